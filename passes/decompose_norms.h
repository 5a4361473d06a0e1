#pragma once

#include "atc/ir/graph.h"

// Normalizations written in reductions and elementwise operators, whose fusion makes one vector program of
// them: rules of the pass "decompose". Each returns whether it rewrote the node. Doubles stay as they are.
namespace atc::passes {

///     y = BatchNormalization(x, scale, B, mean, variance)  ->  f = scale' / sqrt(variance' + epsilon)
///                                                              y = (x - mean') * f + B'
/// in inference, whose parameters are not all constant but of x's type.
bool expand_open_batch_norm(ir::Graph& graph, ir::Node& node);

///     y = InstanceNormalization(x, scale, B)  ->  y = atc.InstanceNorm(x, scale', B') over the spatial axes
bool expand_instance_norm(ir::Graph& graph, ir::Node& node);

/// atc.GroupNorm on x seen as [N, groups, the rest]; scale and bias are one a group before opset 21, one a
/// channel since.
bool expand_group_norm(ir::Graph& graph, ir::Node& node);

///     y = MeanVarianceNormalization(x)  ->  d / (sqrt(mean(d * d)) + 1e-9)
bool expand_mean_variance_norm(ir::Graph& graph, ir::Node& node);

///     y = LRN(x)  ->  t = x * sqrt(alpha / size), s = sum of t * t shifted along the channels
///                     y = x / (s + bias)^beta
/// Not for a negative alpha, nor for windows of more than 16 channels.
bool expand_lrn(ir::Graph& graph, ir::Node& node);

}  // namespace atc::passes
