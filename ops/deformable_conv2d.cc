#include <algorithm>
#include <string>
#include <vector>

#include "ops/any_domain.h"
#include "ops/conv.h"
#include "ops/deform_conv.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/shape_value.h"

// DeformableConv2D: Ascend's modulated deformable convolution (version 2). Unlike ONNX's DeformConv it takes
// offsets and mask as one tensor [N, 3 * groups * taps, H, W]: all columns' offsets, all rows', all masks.
namespace atc::ops {
namespace {

// Inputs: x [N,C,H,W], filter [M,C/groups,kh,kw], offsets, bias (optional).
constexpr std::size_t kOffsets = 2;
constexpr std::size_t kBias = 3;

/// An attribute of one value for both axes, of two, or of four as the operator itself has them, of which
/// those from `first` on count.
StatusOr<Dims> per_axis(const ir::Node& node, std::string_view name, std::int64_t least, std::size_t first) {
  const Dims values = node.attrs.get_ints(name, {1});
  Dims out;
  if (values.size() == 1) out = {values[0], values[0]};
  if (values.size() == 2) out = values;
  if (values.size() == 4) out = {values[first], values[first + 1]};
  if (out.empty() || std::ranges::any_of(out, [&](std::int64_t v) { return v < least || v > INT32_MAX; }))
    return InferContext(node).error("attribute " + std::string(name) + " is [" + to_string(values) +
                                    "], expected one, two or four values >= " + std::to_string(least));
  return out;
}

struct Window {
  WindowGeometry geometry;
  std::int64_t groups = 1;
  std::int64_t deformable_groups = 1;
};

/// `spatial` and `kernel`: -1 where unknown; so are outputs that depend on them.
StatusOr<Window> window_of(const ir::Node& node, const Dims& spatial, const Dims& kernel) {
  const InferContext ctx(node);
  Window w;
  WindowGeometry& g = w.geometry;
  ATC_ASSIGN(g.strides, per_axis(node, "strides", 1, 2));
  ATC_ASSIGN(g.dilations, per_axis(node, "dilations", 1, 2));
  const Dims pads = node.attrs.get_ints("pads", {0});
  if (pads.size() == 4) {  // top, bottom, left, right
    g.pads_begin = {pads[0], pads[2]};
    g.pads_end = {pads[1], pads[3]};
    if (std::ranges::any_of(pads, [](std::int64_t v) { return v < 0 || v > INT32_MAX; }))
      return ctx.error("attribute pads is [" + to_string(pads) + "], expected values >= 0");
  } else {
    ATC_ASSIGN(g.pads_begin, per_axis(node, "pads", 0, 0));
    g.pads_end = g.pads_begin;
  }
  g.kernel = kernel;
  g.output = {-1, -1};
  for (std::size_t i = 0; i < 2; ++i) {
    if (spatial[i] < 0 || kernel[i] < 0) continue;
    const std::int64_t room = spatial[i] + g.pads_begin[i] + g.pads_end[i] - g.extent(i);
    if (kernel[i] < 1 || room < 0)
      return ctx.error("a filter of [" + to_string(kernel) + "] does not fit data of [" + to_string(spatial) +
                       "]");
    g.output[i] = room / g.strides[i] + 1;
  }
  w.groups = node.attrs.get_int("groups", 1);
  w.deformable_groups = node.attrs.get_int("deformable_groups", 1);
  if (w.groups < 1 || w.deformable_groups < 1)
    return ctx.error("attributes groups " + std::to_string(w.groups) + " and deformable_groups " +
                     std::to_string(w.deformable_groups) + " must be at least 1");
  const std::string format = node.attrs.get_string("data_format", "NCHW");
  if (format != "NCHW" && format != "NHWC")  // said, but never used: data of ONNX is NCHW
    return ctx.error("attribute data_format is '" + format + "', expected NCHW");
  if (node.attrs.get_int("modulated", 1) == 0)
    return ctx.error(
        "attribute modulated is 0; only the modulated operator (version 2) is known: export with a "
        "mask, of ones if need be");
  return w;
}

Status check_channels(const InferContext& ctx, const Window& w) {
  const ir::Dim& channels = ctx.shape(0)[1];
  const ir::Dim& filters = ctx.shape(1)[0];
  if (channels.known() && (channels.value % w.groups != 0 || channels.value % w.deformable_groups != 0))
    return ctx.input_error(0, "has " + std::to_string(channels.value) +
                                  " channels, not a multiple of groups " + std::to_string(w.groups) +
                                  " and deformable_groups " + std::to_string(w.deformable_groups));
  if (filters.known() && filters.value % w.groups != 0)
    return ctx.input_error(1, "has " + std::to_string(filters.value) + " filters, not a multiple of groups " +
                                  std::to_string(w.groups));
  if (channels.known() && conflicts(ctx.shape(1)[1], ir::Dim::of(channels.value / w.groups)))
    return ctx.input_error(1, "must have " + std::to_string(channels.value / w.groups) + " input channels");
  return {};
}

Status infer_deformable_conv2d(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  for (std::size_t i = 1; i < 4; ++i) ATC_TRY(require_same_dtype(ctx, i, 0));
  for (std::size_t i = 0; i < 3; ++i) ATC_TRY(require_rank(ctx, i, 4, 4));
  if (!ctx.ranked(0) || !ctx.ranked(1)) {
    ctx.set_output(0, ctx.dtype(0), unknown_shape(ctx, 4));
    return {};
  }
  const Dims kernel = spatial_dims(ctx.shape(1));
  ATC_ASSIGN(const Window w, window_of(ctx.node(), spatial_dims(ctx.shape(0)), kernel));
  ATC_TRY(check_channels(ctx, w));
  ir::Shape shape = {ctx.shape(0)[0], ctx.shape(1)[0], ctx.unknown_dim(), ctx.unknown_dim()};
  for (std::size_t i = 0; i < 2; ++i)
    if (w.geometry.output[i] >= 0) shape[2 + i] = ir::Dim::of(w.geometry.output[i]);
  if (ctx.ranked(kOffsets) && kernel[0] >= 0 && kernel[1] >= 0) {
    const ir::Shape expected = {shape[0], ir::Dim::of(3 * w.deformable_groups * kernel[0] * kernel[1]),
                                shape[2], shape[3]};
    for (std::size_t i = 0; i < 4; ++i)
      if (conflicts(ctx.shape(kOffsets)[i], expected[i]))
        return ctx.input_error(kOffsets, "must have shape [" + ir::to_string(expected) +
                                             "]: offsets of columns, of rows, then masks");
  }
  ATC_TRY(require_vector(ctx, kBias, shape[1]));
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

/// The one tensor as offsets and mask in ONNX's order.
DeformField field_of(const Tensor& offsets, std::int64_t groups) {
  const std::vector<double> in = to_doubles(offsets);
  const auto third = static_cast<std::size_t>(offsets.shape[1] / 3);  // groups * taps
  const auto points = static_cast<std::size_t>(offsets.shape[2] * offsets.shape[3]);
  DeformField field;
  field.groups = groups;
  for (std::size_t n = 0; n < static_cast<std::size_t>(offsets.shape[0]); ++n) {
    const double* columns = in.data() + n * 3 * third * points;
    const double* rows = columns + third * points;
    const double* mask = rows + third * points;
    for (std::size_t tap = 0; tap < third; ++tap) {
      field.offset.insert(field.offset.end(), rows + tap * points, rows + (tap + 1) * points);
      field.offset.insert(field.offset.end(), columns + tap * points, columns + (tap + 1) * points);
    }
    field.mask.insert(field.mask.end(), mask, mask + third * points);
  }
  return field;
}

Status reference_deformable_conv2d(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& filter = ctx.input(1);
  ATC_ASSIGN(const Window w,
             window_of(ctx.node(), {x.shape[2], x.shape[3]}, {filter.shape[2], filter.shape[3]}));
  ctx.outputs[0] = deformed_convolution(x, filter, ctx.has_input(kBias) ? &ctx.input(kBias) : nullptr,
                                        field_of(ctx.input(kOffsets), w.deformable_groups), w.geometry);
  return {};
}

}  // namespace

void register_deformable_conv2d(Registry& r) {
  r.add({.name = "DeformableConv2D",
         .domain = kAnyDomain,
         .attrs = {{"data_format", AttrKind::String},
                   {"deformable_groups", AttrKind::Int},
                   {"dilations", AttrKind::Ints},
                   {"groups", AttrKind::Int},
                   {"modulated", AttrKind::Int},
                   {"pads", AttrKind::Ints, true},
                   {"strides", AttrKind::Ints, true}},
         .inputs = {3, 4},
         .infer = infer_deformable_conv2d,
         .reference = reference_deformable_conv2d});
}

}  // namespace atc::ops
