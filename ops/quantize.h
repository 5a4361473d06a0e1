#pragma once

#include <utility>

#include "ops/op.h"

namespace atc::ops {

/// Least and largest value of an integer dtype (4- and 2-bit ones included).
std::pair<double, double> integer_range(DType dtype);
/// Rounds to nearest even, then clamps into an integer dtype's range. NaN becomes the least value.
double round_and_saturate(double value, DType dtype);

/// Which scale (and zero point) belongs to which element of a quantized tensor: one for the whole tensor,
/// one for each index of an axis, or one for each block along it. A scale's position is a sum of steps.
struct Granularity {
  std::size_t length = 1;  ///< elements along the axis
  std::size_t inner = 1;   ///< elements after the axis
  std::size_t block = 1;   ///< elements along the axis that share a scale
  std::size_t outer_step = 0;
  std::size_t axis_step = 0;
  std::size_t inner_step = 0;

  /// Position in the scale tensor of the scale of element i (row-major).
  std::size_t scale_of(std::size_t i) const {
    const std::size_t row = i / inner;
    return row / length * outer_step + row % length / block * axis_step + i % inner * inner_step;
  }
};
/// Granularity of QuantizeLinear and DequantizeLinear: `x` and `scale` are dims, -1 where unknown (checked
/// as far as they are known; the result is usable when all are). Attributes: axis, block_size.
StatusOr<Granularity> quantization_granularity(const ir::Node& node, const Dims& x, const Dims& scale);

}  // namespace atc::ops
