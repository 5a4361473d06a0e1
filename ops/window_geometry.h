#pragma once

#include "atc/base/status.h"
#include "atc/ir/graph.h"

namespace atc::ops {

/// The sliding window of a convolution or pooling node on its spatial axes, with auto_pad, defaults and
/// output sizes worked out. One entry a spatial axis. An entry that depends on an unknown size is -1:
/// only `kernel`, `pads_begin`, `pads_end` and `output` can be.
struct WindowGeometry {
  Dims kernel;
  Dims strides;
  Dims dilations;
  Dims pads_begin;
  Dims pads_end;
  Dims output;

  std::size_t rank() const { return kernel.size(); }
  /// Extent of the dilated window on an axis. Precondition: kernel[axis] is known.
  std::int64_t extent(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Conv, QLinearConv, ConvInteger. `spatial` and `kernel` are the spatial dims of data and weight, -1
/// where unknown. Attributes: auto_pad, kernel_shape, strides, dilations, pads (ONNX Conv-22).
StatusOr<WindowGeometry> conv_geometry(const ir::Node& node, const Dims& spatial, const Dims& kernel);

/// MaxPool, AveragePool, LpPool: attributes of Conv, kernel_shape required, and ceil_mode (ONNX
/// MaxPool-22). With ceil_mode a last window that would start in the right padding is dropped.
StatusOr<WindowGeometry> pool_geometry(const ir::Node& node, const Dims& spatial);

/// ConvTranspose: output_shape and output_padding too. Pads are what the full (unpadded) result is
/// cropped by: out[o] collects in[i] * w[k] where o = i * stride + k * dilation - pads_begin. Where
/// output_shape asks for more than the full result the rest holds no products.
StatusOr<WindowGeometry> conv_transpose_geometry(const ir::Node& node, const Dims& spatial,
                                                 const Dims& kernel);

/// Spatial dims of an N,C,spatial... shape, -1 where unknown. Precondition: rank >= 2.
Dims spatial_dims(const ir::Shape& shape);

}  // namespace atc::ops
