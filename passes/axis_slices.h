#pragma once

#include <optional>

#include "atc/ir/graph.h"

namespace atc::passes {

/// What a Slice takes along each axis of its input: elements starts[d] + i * steps[d], 0 <= i < counts[d].
/// Starts are inside the axis; a count of 0 takes nothing.
struct AxisSlices {
  Dims starts, steps, counts;
};

/// All of a value of these dims.
AxisSlices whole(const Dims& dims);
/// What the Slice takes; nullopt where its bounds are not constant, shapes not static, or nothing is taken.
std::optional<AxisSlices> slices_of(const ir::Node& slice);
/// `outer` of `inner`: what both together take.
AxisSlices composed(const AxisSlices& inner, const AxisSlices& outer);
/// True when axis d is taken as it is.
bool takes_all(const AxisSlices& s, const Dims& dims, std::size_t axis);

/// A stretch of consecutive elements of `whole` along one axis, whole along all others.
struct Piece {
  ir::Value* whole = nullptr;
  std::size_t axis = 0;
  std::int64_t start = 0, length = 0;
};
/// A Slice's result or a part of a Split as a piece. nullopt for other values, and for Slices of several
/// axes.
std::optional<Piece> piece_of(const ir::Value& value);

/// A Slice of `x` before `before`, whose name and sources it takes; `x` itself where all is taken.
ir::Value* make_slice(ir::Graph& graph, ir::Node& before, ir::Value* x, const AxisSlices& s);

}  // namespace atc::passes
