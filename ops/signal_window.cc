#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// What audio front ends are built of: HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix.
namespace atc::ops {
namespace {

constexpr std::string_view kOutputDType = "output_datatype";  // Int, 1 (f32)
constexpr std::string_view kPeriodic = "periodic";            // Int, 1

StatusOr<DType> output_dtype(const ir::Node& node) {
  const std::int64_t dtype = node.attrs.get_int(kOutputDType, static_cast<std::int64_t>(DType::F32));
  if (dtype > 0 && dtype < kDTypeCount && kNumericTypes.has(static_cast<DType>(dtype)))
    return static_cast<DType>(dtype);
  return InferContext(node).error("attribute output_datatype is " + std::to_string(dtype) +
                                  ", expected a numeric type");
}

Status require_integer_scalar(const InferContext& ctx, std::size_t i) {
  ATC_TRY(require_dtype(ctx, i, kIndexTypes, "type i32 or i64"));
  if (const auto n = length_of(ctx, i); n && *n != 1) return ctx.input_error(i, "must be a scalar");
  return {};
}

std::optional<ir::Dim> known_scalar(const InferContext& ctx, std::size_t i) {
  const auto elements = elements_of(ctx, i);
  return elements && elements->size() == 1 ? std::optional(elements->front()) : std::nullopt;
}

// Windows: input size (scalar) ---------------------------------------------------------------------------

Status infer_window(InferContext& ctx) {
  ATC_TRY(require_integer_scalar(ctx, 0));
  ATC_ASSIGN(const DType dtype, output_dtype(ctx.node()));
  const auto size = known_scalar(ctx, 0);
  if (size && is_literal(*size) && size->value < 0)
    return ctx.input_error(0, "must not be negative, found " + std::to_string(size->value));
  ctx.set_output(0, dtype, ir::Shape{size ? *size : ctx.unknown_dim()});
  return {};
}

// w[n] = a - b cos(2 pi n / N) + c cos(4 pi n / N), with N the size of a periodic window, else one less.
struct Hann {
  static constexpr double a = 0.5, b = 0.5, c = 0;
};
struct Hamming {  // the exact ratio, not the rounded 0.54
  static constexpr double a = 25.0 / 46, b = 21.0 / 46, c = 0;
};
struct Blackman {
  static constexpr double a = 0.42, b = 0.5, c = 0.08;
};

template <class W>
Status reference_window(EvalContext& ctx) {
  ATC_ASSIGN(const DType dtype, output_dtype(ctx.node()));
  const std::int64_t size = int_at(ctx.input(0), 0);
  if (size < 0 || size > (std::int64_t{1} << 40))
    return ctx.error("a window of size " + std::to_string(size) + " is not possible");
  const std::int64_t period = ctx.node().attrs.get_int(kPeriodic, 1) != 0 ? size : size - 1;
  std::vector<double> w(static_cast<std::size_t>(size), 1.0);  // a lone sample of a symmetric window
  for (std::size_t n = 0; period > 0 && n < w.size(); ++n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(period);
    w[n] = W::a - W::b * std::cos(angle) + W::c * std::cos(2 * angle);
  }
  ctx.outputs[0] = from_doubles(dtype, {size}, w);
  return {};
}

template <class W>
OpDef window(std::string_view name) {
  return {.name = name,
          .since = 17,
          .attrs = {{kOutputDType, AttrKind::Int}, {kPeriodic, AttrKind::Int}},
          .infer = infer_window,
          .reference = reference_window<W>};
}

// MelWeightMatrix: num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz (scalars) ------

Status infer_mel_weight_matrix(InferContext& ctx) {
  for (std::size_t i = 0; i < 3; ++i) ATC_TRY(require_integer_scalar(ctx, i));
  ATC_TRY(require_float(ctx, 3));
  ATC_TRY(require_float(ctx, 4));
  ATC_ASSIGN(const DType dtype, output_dtype(ctx.node()));
  const auto bins = known_scalar(ctx, 0);
  const auto length = known_scalar(ctx, 1);
  ir::Dim frequencies = ctx.unknown_dim();
  if (length && is_literal(*length)) {
    if (length->value < 1) return ctx.input_error(1, "must be at least 1");
    frequencies = ir::Dim::of(length->value / 2 + 1);
  }
  ctx.set_output(0, dtype, ir::Shape{frequencies, bins ? *bins : ctx.unknown_dim()});
  return {};
}

/// Triangles over the frequencies of a transform, their corners equally far apart in mels
/// (2595 log10(1 + f / 700)) and rounded down to a frequency's number.
Status reference_mel_weight_matrix(EvalContext& ctx) {
  ATC_ASSIGN(const DType dtype, output_dtype(ctx.node()));
  const std::int64_t bins = int_at(ctx.input(0), 0);
  const std::int64_t length = int_at(ctx.input(1), 0);
  const auto rate = static_cast<double>(int_at(ctx.input(2), 0));
  const double lower = double_at(ctx.input(3), 0);
  const double upper = double_at(ctx.input(4), 0);
  if (bins < 0 || length < 1 || !(rate > 0) || !(lower >= 0 && lower <= upper))
    return ctx.error("num_mel_bins " + std::to_string(bins) + ", dft_length " + std::to_string(length) +
                     ", sample_rate " + std::to_string(rate) + ", edges " + std::to_string(lower) + " to " +
                     std::to_string(upper) + " Hz do not state a filter bank");
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(upper) - mel(lower)) / static_cast<double>(bins + 2);
  std::vector<std::int64_t> corners;
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (mel(lower) + static_cast<double>(i) * step) / 2595) - 1);
    corners.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / rate)));
  }
  const std::int64_t frequencies = length / 2 + 1;
  if (corners.back() > frequencies)
    return ctx.error("upper_edge_hertz " + std::to_string(upper) + " is above half of sample_rate " +
                     std::to_string(rate));
  std::vector<double> y(static_cast<std::size_t>(frequencies * bins), 0.0);
  for (std::int64_t i = 0; i < bins; ++i) {
    const auto at = [&](std::int64_t f) -> double& { return y[static_cast<std::size_t>(f * bins + i)]; };
    const std::int64_t low = corners[static_cast<std::size_t>(i)];
    const std::int64_t center = corners[static_cast<std::size_t>(i) + 1];
    const std::int64_t high = corners[static_cast<std::size_t>(i) + 2];
    for (std::int64_t f = low; f < center; ++f)
      at(f) = static_cast<double>(f - low) / static_cast<double>(center - low);
    if (center < frequencies) at(center) = 1;
    for (std::int64_t f = center; f < high; ++f)
      at(f) = static_cast<double>(high - f) / static_cast<double>(high - center);
  }
  ctx.outputs[0] = from_doubles(dtype, {frequencies, bins}, y);
  return {};
}

}  // namespace

void register_signal_window(Registry& r) {
  r.add(window<Hann>("HannWindow"));
  r.add(window<Hamming>("HammingWindow"));
  r.add(window<Blackman>("BlackmanWindow"));
  r.add({.name = "MelWeightMatrix",
         .since = 17,
         .attrs = {{kOutputDType, AttrKind::Int}},
         .inputs = {5, 5},
         .infer = infer_mel_weight_matrix,
         .reference = reference_mel_weight_matrix});
}

}  // namespace atc::ops
