#pragma once

#include "atc/ir/graph.h"

namespace atc::passes {

/// ReduceX(keepdims=0) -> Reshape(ReduceX(keepdims=1)).
bool keep_reduced_axes(ir::Graph& graph, ir::Node& node);

/// A vector program reduces along neighbouring axes. Over several groups of them:
///
///     ReduceX(axes={0,2,3}) -> ReduceX'(ReduceX(axes={2,3}), axes={0})
///
/// X' is X but for ReduceLogSum, whose earlier steps are sums, and ReduceSumSquare, whose later ones are.
/// Axes of one element part nothing. Must not fire on means of integers, which are cut only once, nor on the
/// roots and logarithms of integers.
bool split_reduced_axes(ir::Graph& graph, ir::Node& node);

}  // namespace atc::passes
