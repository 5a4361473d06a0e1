#include "ops/conv.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/quantize.h"

// ConvInteger and QLinearConv: a convolution of 8-bit integers. Sums are exact: doubles hold them.
namespace atc::ops {

namespace {

constexpr DTypeSet kBytes = {DType::I8, DType::U8};

/// One value for the tensor, or one for each of `channels`.
Status check_per_channel(const InferContext& ctx, std::size_t input, const ir::Dim& channels) {
  if (!ctx.has_input(input) || !ctx.ranked(input)) return {};
  ATC_TRY(require_rank(ctx, input, 0, 1));
  const ir::Shape& shape = ctx.shape(input);
  if (shape.empty() || shape[0].value == 1 || !conflicts(shape[0], channels)) return {};
  return ctx.input_error(input, "has " + std::to_string(shape[0].value) + " elements, expected 1 or " +
                                    std::to_string(channels.value));
}

Status check_scalar(const InferContext& ctx, std::size_t input) {
  return check_per_channel(ctx, input, ir::Dim::of(1));
}

/// What inference of both operators finds: the output's shape and its channels.
StatusOr<std::optional<ir::Shape>> byte_conv_shape(InferContext& ctx, std::size_t x, std::size_t w,
                                                   std::size_t x_zero, std::size_t w_zero) {
  ATC_TRY(require_dtype(ctx, x, kBytes, "i8 or u8"));
  ATC_TRY(require_dtype(ctx, w, kBytes, "i8 or u8"));
  ATC_TRY(require_same_dtype(ctx, x_zero, x));
  ATC_TRY(require_same_dtype(ctx, w_zero, w));
  ATC_TRY(check_scalar(ctx, x_zero));
  if (ctx.ranked(w) && !ctx.shape(w).empty()) ATC_TRY(check_per_channel(ctx, w_zero, ctx.shape(w)[0]));
  return conv_output_shape(ctx, x, w);
}

/// Elements less their zero point: one for the tensor or one for each of dim 0. Null: zero.
std::vector<double> centered(const Tensor& t, const Tensor* zero_point) {
  std::vector<double> v = to_doubles(t);
  if (!zero_point || v.empty()) return v;
  const std::vector<double> zero = to_doubles(*zero_point);
  const std::size_t run = zero.size() == 1 ? v.size() : v.size() / zero.size();
  for (std::size_t i = 0; i < v.size(); ++i) v[i] -= zero[i / run];
  return v;
}

struct Sums {
  std::vector<double> values;
  Dims shape;
};
/// Convolution of centered data and weight; padding is the zero point, so it adds nothing.
StatusOr<Sums> centered_conv(const EvalContext& ctx, std::size_t x, std::size_t w, std::size_t x_zero,
                             std::size_t w_zero) {
  const Tensor& data = ctx.input(x);
  const Tensor& weight = ctx.input(w);
  const auto zero = [&](std::size_t i) { return ctx.has_input(i) ? &ctx.input(i) : nullptr; };
  const Dims spatial(data.shape.begin() + 2, data.shape.end());
  const Dims kernel(weight.shape.begin() + 2, weight.shape.end());
  ATC_ASSIGN(const WindowGeometry g, conv_geometry(ctx.node(), spatial, kernel));
  Sums sums;
  sums.values =
      convolve(centered(data, zero(x_zero)), data.shape, centered(weight, zero(w_zero)), weight.shape, g);
  sums.shape = {data.shape[0], weight.shape[0]};
  sums.shape.insert(sums.shape.end(), g.output.begin(), g.output.end());
  return sums;
}

// ConvInteger (x, w, x_zero_point, w_zero_point) ------------------------------------------------------

Status infer_conv_integer(InferContext& ctx) {
  ATC_ASSIGN(std::optional<ir::Shape> shape, byte_conv_shape(ctx, 0, 1, 2, 3));
  ctx.set_output(0, DType::I32, std::move(shape));
  return {};
}

Status reference_conv_integer(EvalContext& ctx) {
  ATC_ASSIGN(const Sums sums, centered_conv(ctx, 0, 1, 2, 3));
  ctx.outputs[0] = from_doubles(DType::I32, sums.shape, sums.values);
  return {};
}

// QLinearConv (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias) -------------------------

Status infer_qlinear_conv(InferContext& ctx) {
  for (std::size_t scale : {1, 4, 6}) ATC_TRY(require_dtype(ctx, scale, {DType::F32}, "f32"));
  ATC_ASSIGN(std::optional<ir::Shape> shape, byte_conv_shape(ctx, 0, 3, 2, 5));
  for (std::size_t scalar : {1, 6, 7}) ATC_TRY(check_scalar(ctx, scalar));
  ATC_TRY(require_dtype(ctx, 7, kBytes, "i8 or u8"));
  if (shape) ATC_TRY(check_per_channel(ctx, 4, (*shape)[1]));
  if (ctx.has_input(8)) {
    ATC_TRY(require_dtype(ctx, 8, {DType::I32}, "i32"));
    if (shape) ATC_TRY(require_vector(ctx, 8, (*shape)[1]));
  }
  ctx.set_output(0, ctx.dtype(7), std::move(shape));
  return {};
}

Status reference_qlinear_conv(EvalContext& ctx) {
  ATC_ASSIGN(Sums sums, centered_conv(ctx, 0, 3, 2, 5));
  const std::vector<double> w_scale = to_doubles(ctx.input(4));
  const double x_scale = to_doubles(ctx.input(1)).at(0);
  const double y_scale = to_doubles(ctx.input(6)).at(0);
  const double y_zero = to_doubles(ctx.input(7)).at(0);
  const std::vector<double> bias = ctx.has_input(8) ? to_doubles(ctx.input(8)) : std::vector<double>();
  const DType dtype = ctx.input(7).dtype;
  const auto channels = static_cast<std::size_t>(sums.shape[1]);
  const auto plane = static_cast<std::size_t>(element_count(std::span(sums.shape).subspan(2)));
  for (std::size_t i = 0; i < sums.values.size(); ++i) {
    const std::size_t channel = i / plane % channels;
    // The bias is quantized with scale x_scale * w_scale.
    const double sum = sums.values[i] + (bias.empty() ? 0 : bias[channel]);
    const double scale = x_scale * w_scale[w_scale.size() == 1 ? 0 : channel] / y_scale;
    sums.values[i] = round_and_saturate(sum * scale + y_zero, dtype);
  }
  ctx.outputs[0] = from_doubles(dtype, sums.shape, sums.values);
  return {};
}

}  // namespace

void register_quantized_conv(Registry& registry) {
  const std::vector<AttrSpec> attrs = {{"auto_pad", AttrKind::String}, {"dilations", AttrKind::Ints},
                                       {"group", AttrKind::Int},       {"kernel_shape", AttrKind::Ints},
                                       {"pads", AttrKind::Ints},       {"strides", AttrKind::Ints}};
  registry.add({.name = "ConvInteger",
                .since = 10,
                .attrs = attrs,
                .inputs = {2, 4},
                .infer = infer_conv_integer,
                .reference = reference_conv_integer});
  registry.add({.name = "QLinearConv",
                .since = 10,
                .attrs = attrs,
                .inputs = {8, 9},
                .infer = infer_qlinear_conv,
                .reference = reference_qlinear_conv});
}

}  // namespace atc::ops
