#pragma once

#include <vector>

#include "atc/base/status.h"
#include "atc/base/tensor.h"
#include "atc/ir/graph.h"

namespace atc::runtime {

/// Evaluates a graph node by node with the operators' reference functions: what the simulated AI CPU
/// does. `inputs` are the graph's inputs in order; the graph may hold constants and subgraphs. The
/// results may share bytes with inputs and constants.
/// E10055 when an operator has no reference; else what the reference reports.
StatusOr<std::vector<Tensor>> evaluate_reference(const ir::Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace atc::runtime
