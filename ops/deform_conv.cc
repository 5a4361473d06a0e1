#include "ops/deform_conv.h"

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

Status reference_deform_conv(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& w = ctx.input(1);
  ATC_ASSIGN(const WindowGeometry g,
             conv_geometry(ctx.node(), {x.shape[2], x.shape[3]}, {w.shape[2], w.shape[3]}));
  DeformField field;
  field.groups = ctx.node().attrs.get_int("offset_group", 1);
  field.offset = to_doubles(ctx.input(kOffset));
  if (ctx.has_input(kMask)) field.mask = to_doubles(ctx.input(kMask));
  ctx.outputs[0] = deformed_convolution(x, w, ctx.has_input(kBias) ? &ctx.input(kBias) : nullptr, field, g);
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
