#pragma once

#include "atc/ir/graph.h"

namespace atc::passes {

/// A rule of the pass "decompose": RotaryEmbedding (opset 23) in the form that "rope-fusion" makes one vector
/// program of. Returns whether it rewrote the node.
///
///     y = RotaryEmbedding(x, cos, sin, ids)  ->  c, s = Gather(cos, ids), Gather(sin, ids)
///                                                a, b = the halves, or the even and odd elements, of x's
///                                                heads y = Concat(a * c - b * s, b * c + a * s)
///
/// Elements behind rotary_embedding_dim are copied. Doubles stay as they are.
bool expand_rotary_embedding(ir::Graph& graph, ir::Node& node);

}  // namespace atc::passes
