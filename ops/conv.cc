#include "ops/conv.h"

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/window_runs.h"

namespace atc::ops {

namespace {

std::int64_t group_of(const ir::Node& node) { return node.attrs.get_int("group", 1); }

Dims leading_dims(std::int64_t n, std::int64_t channels, const Dims& spatial) {
  Dims dims = {n, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

std::int64_t plane_size(const Dims& shape) { return element_count(std::span(shape).subspan(2)); }

/// Float data, weight and bias of one dtype.
Status check_float_operands(const InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  return require_same_dtype(ctx, 2, 0);
}

/// Data and weight of equal, sufficient rank and a positive group. Both must be ranked.
Status check_ranks(const InferContext& ctx, std::size_t x, std::size_t w) {
  ATC_TRY(require_rank(ctx, x, 3));
  ATC_TRY(require_rank(ctx, w, ctx.shape(x).size(), ctx.shape(x).size()));
  if (group_of(ctx.node()) < 1)
    return ctx.error("attribute group is " + std::to_string(group_of(ctx.node())) + ", expected >= 1");
  return {};
}

Status check_divides(const InferContext& ctx, std::size_t input, const ir::Dim& dim, std::string_view what) {
  const std::int64_t group = group_of(ctx.node());
  if (!dim.known() || dim.value % group == 0) return {};
  return ctx.input_error(input, "has " + std::to_string(dim.value) + " " + std::string(what) +
                                    ", not a multiple of group " + std::to_string(group));
}

// Conv ------------------------------------------------------------------------------------------

Status infer_conv(InferContext& ctx) {
  ATC_TRY(check_float_operands(ctx));
  ATC_ASSIGN(std::optional<ir::Shape> shape, conv_output_shape(ctx, 0, 1));
  if (shape) ATC_TRY(require_vector(ctx, 2, (*shape)[1]));
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

/// Adds bias[m] to every element of channel m; `y` is N,M,spatial...
void add_bias(std::vector<double>& y, const Dims& shape, const Tensor& bias) {
  const std::vector<double> b = to_doubles(bias);
  const auto plane = static_cast<std::size_t>(plane_size(shape));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += b[i / plane % b.size()];
}

Status reference_conv(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& w = ctx.input(1);
  const Dims spatial(x.shape.begin() + 2, x.shape.end());
  const Dims kernel(w.shape.begin() + 2, w.shape.end());
  ATC_ASSIGN(const WindowGeometry g, conv_geometry(ctx.node(), spatial, kernel));
  std::vector<double> y = convolve(to_doubles(x), x.shape, to_doubles(w), w.shape, g);
  const Dims shape = leading_dims(x.shape[0], w.shape[0], g.output);
  if (ctx.has_input(2)) add_bias(y, shape, ctx.input(2));
  ctx.outputs[0] = from_doubles(x.dtype, shape, y);
  return {};
}

// ConvTranspose -----------------------------------------------------------------------------------

Status infer_conv_transpose(InferContext& ctx) {
  ATC_TRY(check_float_operands(ctx));
  if (!ctx.ranked(0) || !ctx.ranked(1)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  ATC_TRY(check_ranks(ctx, 0, 1));
  const ir::Shape& x = ctx.shape(0);
  const ir::Shape& w = ctx.shape(1);
  if (conflicts(x[1], w[0]))
    return ctx.input_error(1, "takes " + std::to_string(w[0].value) +
                                  " input channels (dim 0), the data has " + std::to_string(x[1].value));
  ATC_TRY(check_divides(ctx, 1, merge(w[0], x[1]), "input channels (dim 0)"));
  ir::Dim channels = w[1].known() ? ir::Dim::of(w[1].value * group_of(ctx.node())) : ctx.unknown_dim();
  ATC_TRY(require_vector(ctx, 2, channels));
  ATC_ASSIGN(const WindowGeometry g, conv_transpose_geometry(ctx.node(), spatial_dims(x), spatial_dims(w)));
  ir::Shape out = {x[0], std::move(channels)};
  for (std::int64_t size : g.output) out.push_back(size >= 0 ? ir::Dim::of(size) : ctx.unknown_dim());
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  return {};
}

Status reference_conv_transpose(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& w = ctx.input(1);
  const Dims spatial(x.shape.begin() + 2, x.shape.end());
  const Dims kernel(w.shape.begin() + 2, w.shape.end());
  ATC_ASSIGN(const WindowGeometry g, conv_transpose_geometry(ctx.node(), spatial, kernel));
  // Every x element spreads over a window of y: the walk of a forward convolution from y to x.
  WindowGeometry forward = g;
  forward.output = spatial;
  const auto taps = window_runs(forward, g.output);
  const std::int64_t step = g.strides.back();

  const std::int64_t group = group_of(ctx.node());
  const std::int64_t in_per_group = w.shape[0] / group;
  const std::int64_t out_per_group = w.shape[1];
  const std::int64_t channels = out_per_group * group;
  const Dims shape = leading_dims(x.shape[0], channels, g.output);
  const std::int64_t x_plane = element_count(spatial);
  const std::int64_t y_plane = element_count(g.output);
  const std::vector<double> xs = to_doubles(x);
  const std::vector<double> ws = to_doubles(w);
  std::vector<double> y(static_cast<std::size_t>(element_count(shape)), 0.0);
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t m = 0; m < channels; ++m) {
      double* out = y.data() + (n * channels + m) * y_plane;
      const std::int64_t first = m / out_per_group * in_per_group;
      for (std::int64_t c = first; c < first + in_per_group; ++c) {
        const double* in = xs.data() + (n * w.shape[0] + c) * x_plane;
        const double* weight = ws.data() + (c * out_per_group + m % out_per_group) * std::ssize(taps);
        for (std::size_t k = 0; k < taps.size(); ++k)
          for (const TapRun& run : taps[k])
            for (std::int64_t i = 0; i < run.count; ++i)
              out[run.in + i * step] += weight[k] * in[run.out + i];
      }
    }
  if (ctx.has_input(2)) add_bias(y, shape, ctx.input(2));
  ctx.outputs[0] = from_doubles(x.dtype, shape, y);
  return {};
}

}  // namespace

StatusOr<std::optional<ir::Shape>> conv_output_shape(InferContext& ctx, std::size_t x, std::size_t w) {
  if (!ctx.ranked(x) || !ctx.ranked(w)) return std::optional<ir::Shape>();
  ATC_TRY(check_ranks(ctx, x, w));
  const ir::Shape& data = ctx.shape(x);
  const ir::Shape& weight = ctx.shape(w);
  const std::int64_t group = group_of(ctx.node());
  ATC_TRY(check_divides(ctx, x, data[1], "channels"));
  ATC_TRY(check_divides(ctx, w, weight[0], "output channels (dim 0)"));
  if (data[1].known() && weight[1].known() && data[1].value / group != weight[1].value)
    return ctx.input_error(w, "takes " + std::to_string(weight[1].value) + " input channels in each of " +
                                  std::to_string(group) + " groups (dim 1), the data has " +
                                  std::to_string(data[1].value) + " channels");
  ATC_ASSIGN(const WindowGeometry g, conv_geometry(ctx.node(), spatial_dims(data), spatial_dims(weight)));
  return std::optional(window_output_shape(ctx, data, weight[0], g));
}

ir::Shape window_output_shape(InferContext& ctx, const ir::Shape& data, const ir::Dim& channels,
                              const WindowGeometry& g) {
  ir::Shape out = {data[0], channels};
  for (std::size_t i = 0; i < g.rank(); ++i) {
    const bool pads_known = g.pads_begin[i] >= 0;  // unknown: SAME, which keeps the size at stride 1
    const bool keeps =
        g.strides[i] == 1 &&
        (!pads_known || (g.kernel[i] >= 0 && g.pads_begin[i] + g.pads_end[i] == g.extent(i) - 1));
    if (g.output[i] >= 0)
      out.push_back(ir::Dim::of(g.output[i]));
    else
      out.push_back(keeps ? data[i + 2] : ctx.unknown_dim());
  }
  return out;
}

std::vector<double> convolve(std::span<const double> x, const Dims& x_shape, std::span<const double> w,
                             const Dims& w_shape, const WindowGeometry& g) {
  const Dims spatial(x_shape.begin() + 2, x_shape.end());
  const auto taps = window_runs(g, spatial);
  const std::int64_t step = g.strides.back();
  const std::int64_t channels = w_shape[0];
  const std::int64_t in_per_group = w_shape[1];
  const std::int64_t group = in_per_group > 0 ? x_shape[1] / in_per_group : 1;
  const std::int64_t out_per_group = channels / std::max<std::int64_t>(group, 1);
  const std::int64_t x_plane = element_count(spatial);
  const std::int64_t y_plane = element_count(g.output);
  std::vector<double> y(static_cast<std::size_t>(x_shape[0] * channels * y_plane), 0.0);
  for (std::int64_t n = 0; n < x_shape[0]; ++n)
    for (std::int64_t m = 0; m < channels; ++m) {
      double* out = y.data() + (n * channels + m) * y_plane;
      const std::int64_t first = m / out_per_group * in_per_group;
      for (std::int64_t c = 0; c < in_per_group; ++c) {
        const double* in = x.data() + (n * x_shape[1] + first + c) * x_plane;
        const double* weight = w.data() + (m * in_per_group + c) * std::ssize(taps);
        for (std::size_t k = 0; k < taps.size(); ++k)
          for (const TapRun& run : taps[k])
            if (step == 1)
              for (std::int64_t i = 0; i < run.count; ++i) out[run.out + i] += weight[k] * in[run.in + i];
            else
              for (std::int64_t i = 0; i < run.count; ++i)
                out[run.out + i] += weight[k] * in[run.in + i * step];
      }
    }
  return y;
}

void register_conv(Registry& registry) {
  registry.add({
      .name = "Conv",
      .attrs = {{"auto_pad", AttrKind::String},
                {"dilations", AttrKind::Ints},
                {"group", AttrKind::Int},
                {"kernel_shape", AttrKind::Ints},
                {"pads", AttrKind::Ints},
                {"strides", AttrKind::Ints}},
      .inputs = {2, 3},
      .infer = infer_conv,
      .reference = reference_conv,
  });
  registry.add({
      .name = "ConvTranspose",
      .attrs = {{"auto_pad", AttrKind::String},
                {"dilations", AttrKind::Ints},
                {"group", AttrKind::Int},
                {"kernel_shape", AttrKind::Ints},
                {"output_padding", AttrKind::Ints},
                {"output_shape", AttrKind::Ints},
                {"pads", AttrKind::Ints},
                {"strides", AttrKind::Ints}},
      .inputs = {2, 3},
      .infer = infer_conv_transpose,
      .reference = reference_conv_transpose,
  });
}

}  // namespace atc::ops
