#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "atc/base/tensor.h"
#include "atc/ir/graph.h"
#include "passes/pass.h"

namespace atc::runtime {

struct CompileTarget {
  std::string_view chip;
  passes::Precision precision;
  passes::Switches switches = {};
  bool keeps_dead_code = false;  ///< nodes that nothing reads stay
};

struct CompiledRun {
  std::vector<Tensor> outputs;
  std::vector<std::string> tasks;      ///< operator types of all tasks, in order
  std::vector<std::string> on_ai_cpu;  ///< those of the tasks that no AI Core ran
  passes::FusionCounts fusions;
};

/// The whole way of a graph: passes (each verified), plan, its tasks on the simulated AI Core.
StatusOr<CompiledRun> compile_and_run(ir::Graph& graph, const CompileTarget& target,
                                      const std::vector<Tensor>& inputs);

/// Error relative to the values, both as root mean squares; values below 0.05 count as that.
double relative_error(const Tensor& actual, const Tensor& expected);

}  // namespace atc::runtime
