#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"

// How Resize and Upsample map output coordinates to input ones, in all versions. Interpolation is
// separable: one table of taps an axis says everything about it.
namespace atc::ops {

enum class ResizeMode { Nearest, Linear, Cubic };
enum class CoordinateTransform {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TfHalfPixelForNn,
  TfCropAndResize,
};
enum class NearestMode {
  RoundPreferFloor,
  RoundPreferCeil,
  Floor,
  Ceil,
  Legacy,  ///< Upsample and Resize-10: floor when enlarging, ceil when shrinking
};

/// The attributes of a node, those of its version in force.
struct ResizeOptions {
  ResizeMode mode = ResizeMode::Nearest;
  CoordinateTransform transform = CoordinateTransform::HalfPixel;
  NearestMode nearest = NearestMode::RoundPreferFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  double extrapolation_value = 0;
};
StatusOr<ResizeOptions> resize_options(const ir::Node& node);

/// What a node asks for: the values of its inputs (or attributes), absent where it has none. One entry an
/// axis of the `axes` attribute (every axis by default); roi has the starts, then the ends.
struct ResizeRequest {
  std::optional<std::vector<double>> scales;
  std::optional<Dims> sizes;  ///< -1: unknown
  std::vector<double> roi;
};

/// One axis of the tensor. -1: a size that is not known.
struct ResizeAxis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  /// Exact input step per output step is input_step / output_step: 1 / scale, or a ratio of sizes.
  double input_step = 1;
  double output_step = 1;
  /// length_resized of the coordinate formulas: with given scales it need not be whole.
  double resized_length = 1;
  double roi_begin = 0;
  double roi_end = 1;
  /// The axis is copied as it is, whatever the mode.
  bool is_identity() const {
    return input == output && input_step == output_step && roi_begin == 0 && roi_end == 1;
  }
};
/// Output sizes and scales of all axes of a tensor of dims `input` (-1: unknown).
StatusOr<std::vector<ResizeAxis>> resize_axes(const ir::Node& node, const Dims& input,
                                              const ResizeRequest& request);

/// The taps of one axis: output o is the sum over t of weight[o * taps + t] * input[index[o * taps + t]].
/// Indices are clamped into the input; all are -1 where the coordinate lies outside and the output is
/// extrapolation_value (tf_crop_and_resize), whatever the other axes say.
struct AxisTaps {
  int taps = 1;
  std::vector<std::int32_t> index;
  std::vector<float> weight;
};
/// Precondition: sizes are known and the input's size is in [1, 2^31).
AxisTaps axis_taps(const ResizeAxis& axis, const ResizeOptions& options);

}  // namespace atc::ops
