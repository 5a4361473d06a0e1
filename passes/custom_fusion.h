#pragma once

#include "passes/custom_nodes.h"

namespace atc::passes {

/// True when an operator is of a type that stands for a subgraph: RoPE, SwiGlu, RmsNorm or Attention (see
/// models/custom_ops/README.md for their inputs and attributes).
bool has_custom_patterns(const CustomOperators& operators, const soc::Chip& chip);

/// Subgraphs that such an operator computes become atc::Custom:
///
///     x * cos + Concat(-x[h:], x[:h]) * sin         ->  RoPE(x, cos, sin) {mode = 0}
///     gate * Sigmoid(gate) * up                     ->  SwiGlu(gate beside up) {dim = -1}
///     x / Sqrt(ReduceMean(x * x) + e) * gamma       ->  RmsNorm(x, gamma) {epsilon = e}
///     Softmax(q k^T * s + mask) v                   ->  Attention(q, k, v, mask) {scale = s}
///
/// Not where the operator lacks an attribute that the subgraph needs. Shapes are static, the graph is in
/// canonical form. Returns how many were taken. E89999 when an operator gives another shape than the
/// subgraph.
StatusOr<int> fuse_custom(ir::Graph& graph, const CustomOperators& operators, const soc::Chip& chip,
                          std::vector<CustomTaken>& taken);

}  // namespace atc::passes
