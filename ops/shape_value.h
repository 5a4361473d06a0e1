#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op.h"

// Shape values: the elements of small integer tensors, as far as they are known. An element with an empty
// symbol is the literal integer `value`, negative ones included; one with a symbol is an axis length.
namespace atc::ops {

inline bool is_literal(const ir::Dim& d) { return d.symbol.empty(); }
inline ir::Dim literal(std::int64_t v) { return ir::Dim{v, {}}; }
/// Elements of a scalar or 1-D integer or bool input: constant or partially evaluated.
std::optional<ir::Shape> elements_of(const InferContext& ctx, std::size_t i);
/// The same when every element is a literal.
std::optional<std::vector<std::int64_t>> literals_of(const InferContext& ctx, std::size_t i);
/// Number of elements of a 1-D input (1 for a scalar), when known.
std::optional<std::int64_t> length_of(const InferContext& ctx, std::size_t i);
/// States the elements of output i, unless they are too many to be a shape.
void set_elements(InferContext& ctx, std::size_t i, ir::Shape elements);
/// For operators that keep the elements of input 0 in their order: output 0 has the same.
void keep_elements(InferContext& ctx);
/// `rank` fresh unknown dims.
ir::Shape unknown_shape(InferContext& ctx, std::size_t rank);

}  // namespace atc::ops
