#pragma once

#include <type_traits>

#include "ops/op.h"

namespace atc::ops {

/// The axes (sorted, non-negative) over which a Reduce* node reduces a tensor of `rank`: from the `axes`
/// attribute, or from the tensor of input 1 (null when absent) in the versions that have it as an input.
/// Without axes all of them, or none where noop_with_empty_axes is set: each element is then reduced
/// alone, so that ReduceSumSquare squares and ReduceL1 takes the absolute value.
StatusOr<Dims> reduction_axes(const ir::Node& node, const Tensor* axes_input, std::size_t rank);

/// Output shape of a reduction; reduced axes become 1 or go. `Shape` is Dims or ir::Shape.
template <class Shape>
Shape reduced_shape(const Shape& shape, const Dims& axes, bool keepdims) {
  typename Shape::value_type one{};
  if constexpr (std::is_same_v<Shape, Dims>)
    one = 1;
  else
    one = ir::Dim::of(1);
  Shape out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (next < axes.size() && axes[next] == static_cast<std::int64_t>(i)) {
      ++next;
      if (keepdims) out.push_back(one);
    } else {
      out.push_back(shape[i]);
    }
  }
  return out;
}

}  // namespace atc::ops
