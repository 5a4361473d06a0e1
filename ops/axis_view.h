#pragma once

#include <span>

#include "atc/base/tensor.h"

namespace atc::ops {

/// A dense row-major tensor seen as [outer, length, inner]: `length` elements along one axis (or a run
/// of axes), `inner` apart.
struct AxisView {
  std::size_t outer = 0;
  std::size_t length = 0;
  std::size_t inner = 0;

  /// Offset of the first element of a column.
  std::size_t column(std::size_t o, std::size_t i) const { return o * length * inner + i; }
};

/// Splits `shape` around axes [first, last). Precondition: 0 <= first <= last <= rank.
inline AxisView axes_view(const Dims& shape, std::size_t first, std::size_t last) {
  const std::span dims(shape);
  return {static_cast<std::size_t>(element_count(dims.first(first))),
          static_cast<std::size_t>(element_count(dims.subspan(first, last - first))),
          static_cast<std::size_t>(element_count(dims.subspan(last)))};
}
inline AxisView axis_view(const Dims& shape, std::int64_t axis) {
  return axes_view(shape, static_cast<std::size_t>(axis), static_cast<std::size_t>(axis) + 1);
}

}  // namespace atc::ops
