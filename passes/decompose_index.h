#pragma once

#include "atc/ir/graph.h"

// Operators that place, find or pick elements, written in the index operators and copies that have kernels:
// rules of the pass "decompose". Each returns whether it rewrote the node.
namespace atc::passes {

///     Hardmax(x, axis)  ->  OneHot(ArgMax(x, axis), length of the axis, {0, 1}, axis)
/// Before opset 13 x is seen as [rows, the axes from `axis` on] around it. Not for doubles.
bool expand_hardmax(ir::Graph& graph, ir::Node& node);

///     EyeLike(x: [n, m], k)  ->  OneHot({k, k + 1, ..., k + n - 1}, m, {0, 1})
/// in version 9, in which a position outside the row is nowhere. Nothing of x but its type is needed.
bool expand_eye_like(ir::Graph& graph, ir::Node& node);

///     CenterCropPad(x, lengths)  ->  Pad(Slice(x))
/// around the middle of each axis, either of which may be needless. Lengths must be constant.
bool expand_center_crop_pad(ir::Graph& graph, ir::Node& node);

///     AffineGrid(theta: [N, d, d + 1], size)  ->  Reshape(MatMul(points: [1, P, d + 1], Transpose(theta)))
/// where the points are those of the grid, x first, with a one behind. The size must be constant. Not for
/// doubles.
bool expand_affine_grid(ir::Graph& graph, ir::Node& node);

}  // namespace atc::passes
