#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aicore/core.h"
#include "custom/host.h"
#include "runtime/prepared_plan.h"

namespace atc::runtime {

/// True when the plan has tasks that run libraries of custom operators.
bool has_custom_tasks(const plan::Plan& plan);

struct CustomRunnerOptions {
  std::vector<std::shared_ptr<custom::SharedMemory>> memory;  ///< in which operands lie that kernels write
  int threads = 0;                                            ///< <= 0: one for each hardware thread
};

/// Runs the custom tasks of a plan, which must outlive it: their libraries live in a child process. Not
/// thread-safe.
class CustomRunner {
 public:
  /// Loads the libraries: those that the plan embeds, others from their path, the current folder or the
  /// folders of ASCEND_CUSTOM_OPP_PATH. E13000 when one is nowhere, E10041 when its bytes are not those that
  /// the model was compiled with or it lacks what tasks need, E13029 when it does not load.
  static StatusOr<std::unique_ptr<CustomRunner>> create(const PreparedPlan& plan,
                                                        CustomRunnerOptions options);

  /// Runs one task over its operands. Those that are written must lie in the shared memory; the others there
  /// or in memory that was not changed since `create`. With `timing` the kernel is checked as well. E40021
  /// for faults of the kernel. `trace`: with every instruction.
  StatusOr<custom::LaunchStats> run(std::size_t task, std::span<const aicore::Gm> operands, bool timing,
                                    bool trace = false);

 private:
  CustomRunner(const PreparedPlan& plan, std::unique_ptr<custom::Host> host);
  Status check_tasks();
  const custom::OpInfo* find(const plan::CustomTask& task, std::uint32_t& op) const;

  const PreparedPlan& plan_;
  std::unique_ptr<custom::Host> host_;
};

}  // namespace atc::runtime
