#pragma once

// The CPU twin's calls for programs that run kernels on the host: the simulated AI Core here. One process.
#include <cstddef>
#include <cstdint>

#include "atc_opp/host_launch.h"
#include "kernel_operator.h"

enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };

namespace AscendC {

using ::KernelMode;

inline void* GmAlloc(std::size_t bytes) { return atc_gm_alloc(bytes); }
inline void GmFree(void* memory) { atc_gm_free(memory); }

/// The cores of the launches that follow.
inline void SetKernelMode(KernelMode mode) {
  switch (mode) {
    case KernelMode::AIC_MODE:
      atc_opp::host_kernel_type() = ATC_KERNEL_AIC_ONLY;
      return;
    case KernelMode::AIV_MODE:
      // What the kernel declares, else vector cores: a kernel that synchronises all cores declares it.
      atc_opp::host_kernel_type() = -1;
      return;
    case KernelMode::MIX_MODE:
      atc_opp::host_kernel_type() = ATC_KERNEL_MIX_AIC_1_2;
      return;
    case KernelMode::MIX_AIC_1_1:
      atc_opp::host_kernel_type() = ATC_KERNEL_MIX_AIC_1_1;
      return;
  }
}

}  // namespace AscendC

#define ICPU_SET_TILING_KEY(key) (::atc_opp::host_tiling_key() = static_cast<std::uint64_t>(key))
#define ICPU_RUN_KF(kernel, blocks, ...) ATC_KERNEL_LAUNCH((kernel), (blocks), nullptr, nullptr)(__VA_ARGS__)
