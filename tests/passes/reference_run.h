#pragma once

#include <random>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Runs a graph without nested graphs node by node on the operators' references.
std::vector<Tensor> reference_run(const ir::Graph& graph, const std::vector<Tensor>& inputs);

/// A graph of float and shape arithmetic with much to simplify: copies of nodes and of constants, neutral
/// operations, chains on constants, Shape/Gather/Concat/Reshape, dead nodes. Input "x": f32[2,3,4].
std::unique_ptr<ir::Graph> random_foldable_graph(std::mt19937& rng, int nodes);

}  // namespace atc::passes
