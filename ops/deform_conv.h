#pragma once

#include <cstdint>
#include <vector>

#include "atc/base/tensor.h"
#include "ops/window_geometry.h"

// What DeformConv shares with other forms of the operator.
namespace atc::ops {

/// Where the taps of a 2-D convolution read, in the order of ONNX's DeformConv.
struct DeformField {
  std::int64_t groups = 1;     ///< of input channels that share offsets
  std::vector<double> offset;  ///< [N, groups, taps, (row, column), output height, output width]
  std::vector<double> mask;    ///< [N, groups, taps, output height, output width]; empty: all 1
};

/// Convolution of x [N,C,H,W] with w [M,C/group,kh,kw], its taps moved by the offsets, read bilinearly (zero
/// outside the image) and weighted by the mask. `bias` (M elements) may be null.
Tensor deformed_convolution(const Tensor& x, const Tensor& w, const Tensor* bias, const DeformField& field,
                            const WindowGeometry& geometry);

}  // namespace atc::ops
