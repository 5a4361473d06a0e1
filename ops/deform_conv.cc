#include <cmath>

#include "ops/conv.h"
#include "ops/families.h"
#include "ops/infer_checks.h"

// DeformConv: a 2-D convolution whose taps read at learned offsets, bilinearly, optionally weighted by a
// mask. Inputs X, W, offset, B, mask.
namespace atc::ops {

namespace {

constexpr std::size_t kOffset = 2;
constexpr std::size_t kBias = 3;
constexpr std::size_t kMask = 4;

/// Offset and mask: N, then `channels`, then the output's spatial dims.
Status check_field(const InferContext& ctx, std::size_t input, const ir::Dim& channels,
                   const ir::Shape& out) {
  if (!ctx.has_input(input) || !ctx.ranked(input)) return {};
  const ir::Shape expected = {out[0], channels, out[2], out[3]};
  bool fits = ctx.shape(input).size() == 4;
  for (std::size_t i = 0; fits && i < 4; ++i) fits = !conflicts(ctx.shape(input)[i], expected[i]);
  if (fits) return {};
  return ctx.input_error(input, "must have shape [" + ir::to_string(expected) + "]");
}

Status infer_deform_conv(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  for (std::size_t i = 1; i < 5; ++i) ATC_TRY(require_same_dtype(ctx, i, 0));
  ATC_TRY(require_rank(ctx, 0, 4, 4));
  const std::int64_t groups = ctx.node().attrs.get_int("offset_group", 1);
  if (groups < 1) return ctx.error("attribute offset_group is " + std::to_string(groups) + ", expected >= 1");
  ATC_ASSIGN(std::optional<ir::Shape> shape, conv_output_shape(ctx, 0, 1));
  if (shape) {
    const ir::Dim& channels = ctx.shape(0)[1];
    if (channels.known() && channels.value % groups != 0)
      return ctx.input_error(0, "has " + std::to_string(channels.value) +
                                    " channels, not a multiple of offset_group " + std::to_string(groups));
    const ir::Shape& w = ctx.shape(1);
    if (w[2].known() && w[3].known()) {
      const std::int64_t taps = groups * w[2].value * w[3].value;
      ATC_TRY(check_field(ctx, kOffset, ir::Dim::of(2 * taps), *shape));
      ATC_TRY(check_field(ctx, kMask, ir::Dim::of(taps), *shape));
    }
    ATC_TRY(require_vector(ctx, kBias, (*shape)[1]));
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

/// Bilinear value of a plane; what lies outside is zero.
double bilinear(const double* plane, std::int64_t height, std::int64_t width, double h, double w) {
  if (!(h > -1 && w > -1 && h < static_cast<double>(height) && w < static_cast<double>(width))) return 0;
  const auto top = static_cast<std::int64_t>(std::floor(h));
  const auto left = static_cast<std::int64_t>(std::floor(w));
  const double dh = h - static_cast<double>(top);
  const double dw = w - static_cast<double>(left);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return i < 0 || j < 0 || i >= height || j >= width ? 0 : plane[i * width + j];
  };
  return (1 - dh) * ((1 - dw) * at(top, left) + dw * at(top, left + 1)) +
         dh * ((1 - dw) * at(top + 1, left) + dw * at(top + 1, left + 1));
}

/// Gathers the sampled inputs into columns [N, C * taps, output...], which an ordinary pointwise
/// convolution then sums up.
Status reference_deform_conv(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& w = ctx.input(1);
  ATC_ASSIGN(const WindowGeometry g,
             conv_geometry(ctx.node(), {x.shape[2], x.shape[3]}, {w.shape[2], w.shape[3]}));
  const std::vector<double> in = to_doubles(x);
  const std::vector<double> offset = to_doubles(ctx.input(kOffset));
  const std::vector<double> mask =
      ctx.has_input(kMask) ? to_doubles(ctx.input(kMask)) : std::vector<double>();
  const std::int64_t groups = ctx.node().attrs.get_int("offset_group", 1);
  const std::int64_t channels = x.shape[1];
  const std::int64_t taps = w.shape[2] * w.shape[3];
  const std::int64_t points = g.output[0] * g.output[1];
  std::vector<double> columns(static_cast<std::size_t>(x.shape[0] * channels * taps * points));
  std::size_t next = 0;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t k = 0; k < taps; ++k) {
        const std::int64_t tap = (n * groups + c / (channels / groups)) * taps + k;
        const double* plane = in.data() + (n * channels + c) * x.shape[2] * x.shape[3];
        for (std::int64_t p = 0; p < points; ++p) {
          const double h = static_cast<double>(p / g.output[1] * g.strides[0] - g.pads_begin[0] +
                                               k / w.shape[3] * g.dilations[0]) +
                           offset[static_cast<std::size_t>(2 * tap * points + p)];
          const double v = static_cast<double>(p % g.output[1] * g.strides[1] - g.pads_begin[1] +
                                               k % w.shape[3] * g.dilations[1]) +
                           offset[static_cast<std::size_t>((2 * tap + 1) * points + p)];
          columns[next++] = bilinear(plane, x.shape[2], x.shape[3], h, v) *
                            (mask.empty() ? 1 : mask[static_cast<std::size_t>(tap * points + p)]);
        }
      }
  WindowGeometry pointwise;
  pointwise.kernel = pointwise.strides = pointwise.dilations = {1};
  pointwise.pads_begin = pointwise.pads_end = {0};
  pointwise.output = {points};
  std::vector<double> y = convolve(columns, {x.shape[0], channels * taps, points}, to_doubles(w),
                                   {w.shape[0], w.shape[1] * taps, 1}, pointwise);
  if (ctx.has_input(kBias)) {
    const std::vector<double> bias = to_doubles(ctx.input(kBias));
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] += bias[i / static_cast<std::size_t>(points) % bias.size()];
  }
  ctx.outputs[0] = from_doubles(x.dtype, {x.shape[0], w.shape[0], g.output[0], g.output[1]}, y);
  return {};
}

}  // namespace

void register_deform_conv(Registry& registry) {
  registry.add({.name = "DeformConv",
                .since = 19,
                .attrs = {{"dilations", AttrKind::Ints},
                          {"group", AttrKind::Int},
                          {"kernel_shape", AttrKind::Ints},
                          {"offset_group", AttrKind::Int},
                          {"pads", AttrKind::Ints},
                          {"strides", AttrKind::Ints}},
                .inputs = {3, 5},
                .infer = infer_deform_conv,
                .reference = reference_deform_conv});
}

}  // namespace atc::ops
