#pragma once

// platform_ascendc: what tiling functions ask of the chip.
#include <cstdint>
#include <string>

#include "atc/host_launch.h"
#include "atc_opp/contexts.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };
enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B,
  ASCEND310P,
  ASCEND310B,
  ASCEND910_93,
  RESERVED_VERSION = 99999
};

class PlatformAscendC {
 public:
  explicit PlatformAscendC(fe::PlatFormInfos* platform) : chip_(platform->chip()) {}

  /// AI Cores; on chips with separate vector cores those with a cube unit.
  std::uint32_t GetCoreNum() const { return chip_->split ? chip_->vector_cores : chip_->cube_cores; }
  std::uint32_t GetCoreNumAic() const { return chip_->cube_cores; }
  std::uint32_t GetCoreNumAiv() const { return chip_->vector_cores; }
  std::uint32_t GetCoreNumVector() const { return chip_->split ? 0 : chip_->vector_cores; }
  void GetCoreMemSize(CoreMemType memory, std::uint64_t& bytes) const {
    switch (memory) {
      case CoreMemType::L0_A:
        bytes = chip_->l0a;
        return;
      case CoreMemType::L0_B:
        bytes = chip_->l0b;
        return;
      case CoreMemType::L0_C:
        bytes = chip_->l0c;
        return;
      case CoreMemType::L1:
        bytes = chip_->l1;
        return;
      case CoreMemType::L2:
        bytes = chip_->l2;
        return;
      case CoreMemType::UB:
        bytes = chip_->ub;
        return;
      case CoreMemType::HBM:
        bytes = chip_->global_memory;
        return;
      default:
        bytes = 0;
    }
  }
  SocVersion GetSocVersion() const {
    const std::string name = chip_->soc_version;
    if (name.rfind("Ascend910_93", 0) == 0) return SocVersion::ASCEND910_93;
    if (name.rfind("Ascend910B", 0) == 0) return SocVersion::ASCEND910B;
    if (name.rfind("Ascend910", 0) == 0) return SocVersion::ASCEND910;
    if (name.rfind("Ascend310P", 0) == 0) return SocVersion::ASCEND310P;
    if (name.rfind("Ascend310B", 0) == 0) return SocVersion::ASCEND310B;
    return SocVersion::RESERVED_VERSION;
  }
  std::uint32_t GetLibApiWorkSpaceSize() const { return static_cast<std::uint32_t>(chip_->system_workspace); }
  /// Blocks for `slices` pieces of work on cube and vector cores together.
  std::uint32_t CalcTschBlockDim(std::uint32_t slices, std::uint32_t aic, std::uint32_t aiv) const {
    if (aic == 0 || aiv == 0 || aic > aiv) return slices;
    const std::uint32_t ratio = aiv / aic;
    return (slices + ratio - 1) / ratio;
  }

 private:
  const AtcCustomChip* chip_;
};

/// The chip that programs which launch kernels themselves run on.
class PlatformAscendCManager {
 public:
  /// Null when there is none. The environment names the chip, not the argument.
  static PlatformAscendC* GetInstance(const char* = nullptr) {
    static fe::PlatFormInfos infos(&atc_host_chip != nullptr ? atc_host_chip() : nullptr);
    static PlatformAscendC platform(&infos);
    return infos.chip() == nullptr ? nullptr : &platform;
  }
};

}  // namespace platform_ascendc
