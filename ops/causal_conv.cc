#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/shape_value.h"

// CausalConvWithState: a depthwise 1-D convolution over what came before, with the last k - 1 inputs carried
// from call to call.
namespace atc::ops {
namespace {

// Inputs: input [B,C,L], weight [C,1,k], bias [C] (optional), past_state [B,C,k-1] (optional, zero).
constexpr std::size_t kWeight = 1;
constexpr std::size_t kBias = 2;
constexpr std::size_t kPast = 3;
constexpr std::string_view kActivation = "activation";  // String, none: none, silu, swish (the same)

Status infer_causal_conv(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  for (std::size_t i = kWeight; i <= kPast; ++i) ATC_TRY(require_same_dtype(ctx, i, 0));
  ATC_TRY(require_rank(ctx, 0, 3, 3));
  ATC_TRY(require_rank(ctx, kWeight, 3, 3));
  if (ctx.has_input(kPast)) ATC_TRY(require_rank(ctx, kPast, 3, 3));
  const std::string activation = ctx.node().attrs.get_string(kActivation, "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return ctx.error("attribute activation is '" + activation + "', expected none, silu or swish");

  ir::Shape shape = ctx.ranked(0) ? ctx.shape(0) : unknown_shape(ctx, 3);
  ir::Dim carried = ctx.unknown_dim();
  if (ctx.ranked(kWeight)) {
    const ir::Shape& weight = ctx.shape(kWeight);
    if (conflicts(weight[0], shape[1]) || conflicts(weight[1], ir::Dim::of(1)) ||
        conflicts(weight[2], ir::Dim::of(std::max<std::int64_t>(weight[2].value, 1))))
      return ctx.input_error(kWeight, "must have shape [" + ir::to_string(ir::Shape{shape[1]}) +
                                          ",1,k]: one kernel for each channel");
    shape[1] = merge(shape[1], weight[0]);
    if (weight[2].known()) carried = ir::Dim::of(weight[2].value - 1);
  }
  ATC_TRY(require_vector(ctx, kBias, shape[1]));
  ir::Shape state = {shape[0], shape[1], carried};
  if (ctx.has_input(kPast) && ctx.ranked(kPast))
    for (std::size_t i = 0; i < 3; ++i) {
      if (conflicts(ctx.shape(kPast)[i], state[i]))
        return ctx.input_error(kPast, "must have shape [" + ir::to_string(state) + "]");
      state[i] = merge(state[i], ctx.shape(kPast)[i]);
    }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  ctx.set_output(1, ctx.dtype(0), std::move(state));
  return {};
}

Status reference_causal_conv(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::vector<double> in = to_doubles(x);
  const std::vector<double> weight = to_doubles(ctx.input(kWeight));
  const std::vector<double> bias =
      ctx.has_input(kBias) ? to_doubles(ctx.input(kBias)) : std::vector<double>();
  const std::vector<double> past =
      ctx.has_input(kPast) ? to_doubles(ctx.input(kPast)) : std::vector<double>();
  const auto channels = static_cast<std::size_t>(x.shape[1]);
  const auto length = static_cast<std::size_t>(x.shape[2]);
  const auto taps = static_cast<std::size_t>(ctx.input(kWeight).shape[2]);
  const std::size_t carried = taps - 1;
  const bool gated = ctx.node().attrs.get_string(kActivation, "none") != "none";
  std::vector<double> y;
  std::vector<double> state;
  for (std::size_t row = 0; row < static_cast<std::size_t>(x.shape[0]) * channels; ++row) {
    std::vector<double> series(carried, 0.0);
    if (!past.empty())
      std::copy_n(past.begin() + static_cast<std::ptrdiff_t>(row * carried), carried, series.begin());
    series.insert(series.end(), in.begin() + static_cast<std::ptrdiff_t>(row * length),
                  in.begin() + static_cast<std::ptrdiff_t>((row + 1) * length));
    for (std::size_t t = 0; t < length; ++t) {
      double sum = bias.empty() ? 0 : bias[row % channels];
      for (std::size_t k = 0; k < taps; ++k) sum += weight[row % channels * taps + k] * series[t + k];
      y.push_back(gated ? sum / (1 + std::exp(-sum)) : sum);
    }
    state.insert(state.end(), series.end() - static_cast<std::ptrdiff_t>(carried), series.end());
  }
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  if (ctx.outputs.size() > 1)
    ctx.outputs[1] =
        from_doubles(x.dtype, {x.shape[0], x.shape[1], static_cast<std::int64_t>(carried)}, state);
  return {};
}

}  // namespace

void register_causal_conv(Registry& r) {
  r.add({.name = "CausalConvWithState",
         .since = 27,
         .attrs = {{kActivation, AttrKind::String}},
         .inputs = {2, 4},
         .outputs = {1, 2},
         .infer = infer_causal_conv,
         .reference = reference_causal_conv});
}

}  // namespace atc::ops
