#include "ops/resize_geometry.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/infer_checks.h"

namespace atc::ops {

namespace {

Status fault(const ir::Node& node, const std::string& message) { return InferContext(node).error(message); }

/// Upsample and Resize-10 have neither coordinate transforms nor rounding modes.
bool is_legacy(const ir::Node& node) { return node.op_type == "Upsample" || node.version < 11; }

template <class T>
struct Named {
  std::string_view name;
  T value;
};

/// The enumerator that a string attribute names.
template <class T, std::size_t N>
StatusOr<T> enum_attribute(const ir::Node& node, std::string_view attribute, std::string_view fallback,
                           const Named<T> (&names)[N]) {
  const std::string text = node.attrs.get_string(attribute, fallback);
  std::string expected;
  for (const Named<T>& n : names) {
    if (n.name == text) return n.value;
    expected += (expected.empty() ? "" : ", ") + std::string(n.name);
  }
  return fault(node,
               "attribute " + std::string(attribute) + " is \"" + text + "\", expected one of " + expected);
}

constexpr Named<ResizeMode> kModes[] = {
    {"nearest", ResizeMode::Nearest}, {"linear", ResizeMode::Linear}, {"cubic", ResizeMode::Cubic}};
constexpr Named<ResizeMode> kLegacyModes[] = {
    {"nearest", ResizeMode::Nearest}, {"linear", ResizeMode::Linear}, {"bilinear", ResizeMode::Linear}};
constexpr Named<NearestMode> kNearestModes[] = {{"round_prefer_floor", NearestMode::RoundPreferFloor},
                                                {"round_prefer_ceil", NearestMode::RoundPreferCeil},
                                                {"floor", NearestMode::Floor},
                                                {"ceil", NearestMode::Ceil}};
constexpr Named<CoordinateTransform> kTransforms[] = {
    {"half_pixel", CoordinateTransform::HalfPixel},
    {"half_pixel_symmetric", CoordinateTransform::HalfPixelSymmetric},
    {"pytorch_half_pixel", CoordinateTransform::PytorchHalfPixel},
    {"align_corners", CoordinateTransform::AlignCorners},
    {"asymmetric", CoordinateTransform::Asymmetric},
    {"tf_half_pixel_for_nn", CoordinateTransform::TfHalfPixelForNn},
    {"tf_crop_and_resize", CoordinateTransform::TfCropAndResize}};

std::string list(const std::vector<double>& values) {
  std::string out;
  for (double v : values) out += (out.empty() ? "" : ",") + std::to_string(v);
  return out;
}

/// Sizes by keep_aspect_ratio_policy: one common scale, the smallest (or largest) that a size asks for.
Status fit_aspect_ratio(const ir::Node& node, bool larger, const Dims& axes, const Dims& sizes,
                        std::vector<ResizeAxis>& out) {
  double scale = larger ? 0 : std::numeric_limits<double>::infinity();
  bool known = true;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t in = out[static_cast<std::size_t>(axes[i])].input;
    if (in == 0)
      return fault(node, "axis " + std::to_string(axes[i]) + " of the data is empty, it has no aspect ratio");
    known = known && in > 0 && sizes[i] >= 0;
    const double s = static_cast<double>(sizes[i]) / static_cast<double>(in);
    scale = larger ? std::max(scale, s) : std::min(scale, s);
  }
  for (std::int64_t a : axes) {
    ResizeAxis& axis = out[static_cast<std::size_t>(a)];
    axis.output = -1;
    axis.output_step = 0;  // the scale is not known
    if (!known) continue;
    axis.resized_length = scale * static_cast<double>(axis.input);
    axis.output = static_cast<std::int64_t>(std::floor(axis.resized_length + 0.5));
    axis.output_step = scale;
  }
  return {};
}

Status apply_sizes(const ir::Node& node, const Dims& axes, const Dims& sizes, std::vector<ResizeAxis>& out) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = out[static_cast<std::size_t>(axes[i])];
    axis.output = sizes[i];
    axis.input_step = static_cast<double>(axis.input);
    axis.output_step = axis.resized_length = static_cast<double>(sizes[i]);
    if (axis.input == 0 && sizes[i] > 0)
      return fault(node, "axis " + std::to_string(axes[i]) + " of the data is empty, it cannot become " +
                             std::to_string(sizes[i]));
  }
  return {};
}

void apply_scales(const Dims& axes, const std::vector<double>& scales, bool crops,
                  std::vector<ResizeAxis>& out) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = out[static_cast<std::size_t>(axes[i])];
    axis.output_step = scales[i];
    axis.output = -1;
    if (axis.input < 0) continue;
    // In float, as the standard's own shape inference computes it: 0.6f * 5 is 3, not 2.99...
    const float part = crops ? static_cast<float>(axis.roi_end - axis.roi_begin) : 1.0F;
    axis.output = static_cast<std::int64_t>(
        std::floor(static_cast<float>(axis.input) * part * static_cast<float>(scales[i])));
    axis.resized_length =
        crops ? static_cast<double>(axis.output) : static_cast<double>(axis.input) * scales[i];
  }
}

/// Output coordinate to input coordinate.
double source_coordinate(const ResizeAxis& axis, const ResizeOptions& options, std::int64_t output) {
  const auto x = static_cast<double>(output);
  const auto in = static_cast<double>(axis.input);
  const auto scaled = [&](double v) -> double {
    // A whole or half coordinate decides between two samples. With a scale it is one only in float, in which
    // scales are given: 3 / 0.6f is 5 there, 4.9999998 in double. Interpolation has no such steps.
    if (options.mode == ResizeMode::Nearest && axis.input_step == 1)
      return static_cast<float>(v) / static_cast<float>(axis.output_step);
    // Multiplied before divided: exact wherever the quotient is whole.
    return v * axis.input_step / axis.output_step;
  };
  switch (options.transform) {
    case CoordinateTransform::HalfPixel:
      return scaled(x + 0.5) - 0.5;
    case CoordinateTransform::HalfPixelSymmetric: {
      const double adjustment = static_cast<double>(axis.output) / axis.resized_length;
      return in / 2 * (1 - adjustment) + scaled(x + 0.5) - 0.5;
    }
    case CoordinateTransform::PytorchHalfPixel:
      return axis.output > 1 ? scaled(x + 0.5) - 0.5 : 0;
    case CoordinateTransform::AlignCorners:
      return axis.resized_length == 1 ? 0 : x * (in - 1) / (axis.resized_length - 1);
    case CoordinateTransform::Asymmetric:
      return scaled(x);
    case CoordinateTransform::TfHalfPixelForNn:
      return scaled(x + 0.5);
    case CoordinateTransform::TfCropAndResize:
      if (axis.output <= 1) return (axis.roi_begin + axis.roi_end) * (in - 1) / 2;
      return axis.roi_begin * (in - 1) +
             x * (axis.roi_end - axis.roi_begin) * (in - 1) / (static_cast<double>(axis.output) - 1);
  }
  return 0;
}

double nearest_index(double x, NearestMode mode, bool shrinks) {
  switch (mode) {
    case NearestMode::RoundPreferFloor:
      return std::ceil(x - 0.5);
    case NearestMode::RoundPreferCeil:
      return std::floor(x + 0.5);
    case NearestMode::Floor:
      return std::floor(x);
    case NearestMode::Ceil:
      return std::ceil(x);
    case NearestMode::Legacy:
      return shrinks ? std::ceil(x) : std::floor(x);
  }
  return 0;
}

/// The interpolation kernel's weight at distance d (in input samples).
double kernel_weight(double d, ResizeMode mode, double a) {
  d = std::abs(d);
  if (mode == ResizeMode::Linear) return std::max(1 - d, 0.0);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

}  // namespace

StatusOr<ResizeOptions> resize_options(const ir::Node& node) {
  ResizeOptions o;
  if (is_legacy(node)) {
    ATC_ASSIGN(o.mode, enum_attribute(node, "mode", "nearest", kLegacyModes));
    o.transform = CoordinateTransform::Asymmetric;
    o.nearest = NearestMode::Legacy;
    return o;
  }
  ATC_ASSIGN(o.mode, enum_attribute(node, "mode", "nearest", kModes));
  ATC_ASSIGN(o.transform, enum_attribute(node, "coordinate_transformation_mode", "half_pixel", kTransforms));
  ATC_ASSIGN(o.nearest, enum_attribute(node, "nearest_mode", "round_prefer_floor", kNearestModes));
  o.cubic_a = node.attrs.get_float("cubic_coeff_a", -0.75F);
  o.exclude_outside = node.attrs.get_int("exclude_outside", 0) != 0;
  o.antialias = node.attrs.get_int("antialias", 0) != 0;
  o.extrapolation_value = node.attrs.get_float("extrapolation_value", 0.0F);
  return o;
}

StatusOr<std::vector<ResizeAxis>> resize_axes(const ir::Node& node, const Dims& input,
                                              const ResizeRequest& request) {
  std::vector<ResizeAxis> out(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    out[i].input = out[i].output = input[i];
    out[i].resized_length = static_cast<double>(input[i]);
  }
  Dims axes = node.attrs.get_ints("axes");
  if (axes.empty())
    for (std::size_t i = 0; i < input.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  // Sizes and scales follow the order of `axes`; resolve_axes only checks.
  auto checked = resolve_axes(node, axes, input.size());
  if (!checked.ok()) return checked.status();
  for (std::int64_t& a : axes) a = *normalize_axis(a, static_cast<std::int64_t>(input.size()));

  const bool crops =
      node.attrs.get_string("coordinate_transformation_mode", {}) == "tf_crop_and_resize" && !is_legacy(node);
  if (crops) {
    if (request.roi.size() != 2 * axes.size())
      return fault(node, "roi has " + std::to_string(request.roi.size()) + " values, expected " +
                             std::to_string(2 * axes.size()) + " for tf_crop_and_resize");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      out[static_cast<std::size_t>(axes[i])].roi_begin = request.roi[i];
      out[static_cast<std::size_t>(axes[i])].roi_end = request.roi[axes.size() + i];
    }
  }
  if (request.scales.has_value() == request.sizes.has_value())
    return fault(node, request.sizes ? "has both scales and sizes, expected one of them"
                                     : "has neither scales nor sizes");
  const std::size_t given = request.scales ? request.scales->size() : request.sizes->size();
  if (given != axes.size())
    return fault(node, std::string(request.scales ? "scales" : "sizes") + " has " + std::to_string(given) +
                           " values, expected " + std::to_string(axes.size()));
  if (request.scales) {
    for (double s : *request.scales)
      if (!(s > 0) || s > 1e6)
        return fault(node, "scales are [" + list(*request.scales) + "], every one must be > 0");
    apply_scales(axes, *request.scales, crops, out);
    return out;
  }
  const std::string policy = node.attrs.get_string("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    ATC_TRY(apply_sizes(node, axes, *request.sizes, out));
  else if (policy == "not_larger" || policy == "not_smaller")
    ATC_TRY(fit_aspect_ratio(node, policy == "not_smaller", axes, *request.sizes, out));
  else
    return fault(node, "attribute keep_aspect_ratio_policy is \"" + policy +
                           "\", expected stretch, not_larger or not_smaller");
  return out;
}

AxisTaps axis_taps(const ResizeAxis& axis, const ResizeOptions& options) {
  ATC_CHECK(axis.input >= 1 && axis.input <= INT32_MAX && axis.output >= 0, "axis_taps: sizes");
  AxisTaps table;
  const auto clamp = [&](double i) {
    return static_cast<std::int32_t>(std::clamp(i, 0.0, static_cast<double>(axis.input - 1)));
  };
  const double scale = axis.output_step / axis.input_step;
  const bool nearest = options.mode == ResizeMode::Nearest;
  // With antialias the kernel is stretched over as many samples as one output covers.
  const double stretch = options.antialias && !nearest ? std::min(scale, 1.0) : 1.0;
  const double radius = (options.mode == ResizeMode::Cubic ? 2 : 1) / stretch;
  const int start = nearest ? 0 : static_cast<int>(std::floor(-radius)) + 1;
  table.taps = nearest || axis.is_identity() ? 1 : 2 - 2 * start;
  table.index.reserve(static_cast<std::size_t>(axis.output * table.taps));
  table.weight.reserve(table.index.capacity());
  std::vector<double> weights(static_cast<std::size_t>(table.taps));
  for (std::int64_t o = 0; o < axis.output; ++o) {
    if (axis.is_identity()) {
      table.index.push_back(static_cast<std::int32_t>(o));
      table.weight.push_back(1);
      continue;
    }
    const double x = source_coordinate(axis, options, o);
    if (options.transform == CoordinateTransform::TfCropAndResize &&
        (x < 0 || x > static_cast<double>(axis.input - 1))) {
      table.index.insert(table.index.end(), static_cast<std::size_t>(table.taps), -1);
      table.weight.insert(table.weight.end(), static_cast<std::size_t>(table.taps), 0.0F);
      continue;
    }
    if (nearest) {
      table.index.push_back(clamp(nearest_index(x, options.nearest, scale < 1)));
      table.weight.push_back(1);
      continue;
    }
    const double first = std::floor(x) + start;
    double sum = 0;
    for (int t = 0; t < table.taps; ++t) {
      const double i = first + t;
      double& w = weights[static_cast<std::size_t>(t)];
      w = kernel_weight((i - x) * stretch, options.mode, options.cubic_a);
      if (options.exclude_outside && (i < 0 || i >= static_cast<double>(axis.input))) w = 0;
      sum += w;
    }
    for (int t = 0; t < table.taps; ++t) {
      table.index.push_back(clamp(first + t));
      table.weight.push_back(static_cast<float>(weights[static_cast<std::size_t>(t)] / sum));
    }
  }
  return table;
}

}  // namespace atc::ops
