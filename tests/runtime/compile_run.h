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
};

struct CompiledRun {
  std::vector<Tensor> outputs;
  std::vector<std::string> on_ai_cpu;  ///< operators of the tasks that no AI Core ran
};

/// The whole way of a graph: passes (each verified), plan, its tasks on the simulated AI Core.
StatusOr<CompiledRun> compile_and_run(ir::Graph& graph, const CompileTarget& target,
                                      const std::vector<Tensor>& inputs);

}  // namespace atc::runtime
