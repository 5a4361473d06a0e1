#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aicore/core.h"
#include "ascendc/global_memory.h"
#include "ascendc/reports.h"
#include "atc/base/thread_pool.h"
#include "atc/core_api.h"
#include "soc/chip.h"

namespace atc::ascendc {

/// One launch of a kernel.
struct Launch {
  AtcKernel kernel = nullptr;
  int block_dim = 1;
  std::uint64_t tiling_key = 0;
  /// AtcKernelType; nullopt: what the kernel declares, else what its buffers say.
  std::optional<int> type;
  std::vector<void*> args;      ///< as AtcKernel has them
  std::vector<GmRange> memory;  ///< everything the kernel may touch
  void* system_workspace = nullptr;
  std::int64_t system_workspace_bytes = 0;
  bool checks = true;  ///< diagnostics; without them only accesses outside of memory are found
  bool timing = true;
  bool trace = false;
};

/// What one core did.
struct CoreRun {
  std::string name;  ///< "core0.veccore0", "core0.cubecore0"
  aicore::Stats stats;
  aicore::Cycle begin = 0;  ///< blocks beyond the cores come after earlier ones
  std::vector<aicore::TraceEvent> trace;
  /// TRACE_START and TRACE_STOP of the kernel, in cycles of this core.
  struct Mark {
    int id = 0;
    bool begin = true;
    aicore::Cycle at = 0;
  };
  std::vector<Mark> marks;
};

struct Outcome {
  std::vector<Diagnostic> diagnostics;  ///< errors first
  std::string printed;                  ///< of printf, core by core
  aicore::Stats stats;                  ///< cycles: the end of the last core; the rest summed
  std::vector<CoreRun> cores;
  int kernel_type = ATC_KERNEL_AIV_ONLY;
  bool ok() const { return diagnostics.empty() || !diagnostics.front().error; }
};

/// Runs the kernel on the chip's cores. What the kernel does wrong is in the outcome; the launch itself is
/// wrong with a block count below 1 or above 65535, which is a diagnostic too.
Outcome run(const soc::Chip& chip, const Launch& launch, ThreadPool& pool);

/// The __NPU_ARCH__ of a chip.
int npu_arch(const soc::Chip& chip);

}  // namespace atc::ascendc
