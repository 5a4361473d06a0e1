#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/roi_align.h"

// RoiAlign and MaxRoiPool: pooling of regions of a feature map.
namespace atc::ops {

namespace {

Status check_feature_map(const InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 4, 4));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  return require_rank(ctx, 1, 2, 2);
}

Status require_columns(const InferContext& ctx, std::int64_t columns) {
  if (!ctx.ranked(1) || !conflicts(ctx.shape(1)[1], ir::Dim::of(columns))) return {};
  return ctx.input_error(1, "must have shape [regions," + std::to_string(columns) + "]");
}

void set_regions_output(InferContext& ctx, std::int64_t height, std::int64_t width) {
  const ir::Dim regions = ctx.ranked(1) ? ctx.shape(1)[0] : ctx.unknown_dim();
  const ir::Dim channels = ctx.ranked(0) ? ctx.shape(0)[1] : ctx.unknown_dim();
  ctx.set_output(0, ctx.dtype(0), ir::Shape{regions, channels, ir::Dim::of(height), ir::Dim::of(width)});
}

Status bad_batch(const EvalContext& ctx, std::int64_t index, std::int64_t batch) {
  return ctx.error("a region names batch element " + std::to_string(index) + ", the data has " +
                   std::to_string(batch));
}

// RoiAlign (X, rois [R, 4], batch_indices [R]) --------------------------------------------------------

Status infer_roi_align(InferContext& ctx) {
  ATC_TRY(check_feature_map(ctx));
  ATC_TRY(require_columns(ctx, 4));
  ATC_TRY(require_dtype(ctx, 2, {DType::I64}, "i64"));
  if (ctx.ranked(1)) ATC_TRY(require_vector(ctx, 2, ctx.shape(1)[0]));
  ATC_ASSIGN(const RoiAlignOptions o, roi_align_options(ctx.node()));
  set_regions_output(ctx, o.height, o.width);
  return {};
}

Status reference_roi_align(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  ATC_ASSIGN(const RoiAlignOptions o, roi_align_options(ctx.node()));
  const std::vector<double> in = to_doubles(x);
  const std::vector<double> rois = to_doubles(ctx.input(1));
  const std::vector<std::int64_t> batches = to_int64s(ctx.input(2));
  const std::int64_t channels = x.shape[1];
  const std::int64_t height = x.shape[2];
  const std::int64_t width = x.shape[3];
  std::vector<double> y;
  for (std::size_t r = 0; r < batches.size(); ++r) {
    if (batches[r] < 0 || batches[r] >= x.shape[0]) return bad_batch(ctx, batches[r], x.shape[0]);
    align_region({in.data() + batches[r] * channels * height * width, channels, height, width},
                 rois.data() + 4 * r, o, y);
  }
  ctx.outputs[0] = from_doubles(x.dtype, {std::ssize(batches), channels, o.height, o.width}, y);
  return {};
}

// MaxRoiPool (X, rois [R, 5] with the batch element first) --------------------------------------------

Status infer_max_roi_pool(InferContext& ctx) {
  ATC_TRY(check_feature_map(ctx));
  ATC_TRY(require_columns(ctx, 5));
  const Dims pooled = ctx.node().attrs.get_ints("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1)
    return ctx.error("attribute pooled_shape is [" + to_string(pooled) + "], expected two values >= 1");
  set_regions_output(ctx, pooled[0], pooled[1]);
  return {};
}

/// Pixels [first, last) of a bin of a region that starts at `start` and is `length` pixels long.
std::pair<std::int64_t, std::int64_t> bin_pixels(double start, double length, std::int64_t bin,
                                                 std::int64_t bins, std::int64_t size) {
  const double step = length / static_cast<double>(bins);
  const auto limit = static_cast<double>(size);
  const double first = std::floor(static_cast<double>(bin) * step) + start;
  const double last = std::ceil(static_cast<double>(bin + 1) * step) + start;
  return {static_cast<std::int64_t>(std::clamp(first, 0.0, limit)),
          static_cast<std::int64_t>(std::clamp(last, 0.0, limit))};
}

Status reference_max_roi_pool(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Dims pooled = ctx.node().attrs.get_ints("pooled_shape");
  const double scale = ctx.node().attrs.get_float("spatial_scale", 1.0F);
  const std::vector<double> in = to_doubles(x);
  const std::vector<double> rois = to_doubles(ctx.input(1));
  const std::int64_t regions = ctx.input(1).shape[0];
  const std::int64_t channels = x.shape[1];
  const std::int64_t height = x.shape[2];
  const std::int64_t width = x.shape[3];
  std::vector<double> y;
  for (std::int64_t r = 0; r < regions; ++r) {
    const double* roi = rois.data() + 5 * r;
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x.shape[0])))
      return ctx.error("a region names a batch element that the data does not have");
    const double left = std::round(roi[1] * scale);
    const double top = std::round(roi[2] * scale);
    const double wide = std::max(std::round(roi[3] * scale) - left + 1, 1.0);
    const double high = std::max(std::round(roi[4] * scale) - top + 1, 1.0);
    for (std::int64_t c = 0; c < channels; ++c) {
      const double* plane = in.data() + (static_cast<std::int64_t>(roi[0]) * channels + c) * height * width;
      for (std::int64_t i = 0; i < pooled[0]; ++i)
        for (std::int64_t j = 0; j < pooled[1]; ++j) {
          const auto [h0, h1] = bin_pixels(top, high, i, pooled[0], height);
          const auto [w0, w1] = bin_pixels(left, wide, j, pooled[1], width);
          double largest = h0 < h1 && w0 < w1 ? -std::numeric_limits<double>::infinity() : 0;
          for (std::int64_t h = h0; h < h1; ++h)
            for (std::int64_t w = w0; w < w1; ++w) largest = std::max(largest, plane[h * width + w]);
          y.push_back(largest);
        }
    }
  }
  ctx.outputs[0] = from_doubles(x.dtype, {regions, channels, pooled[0], pooled[1]}, y);
  return {};
}

}  // namespace

StatusOr<RoiAlignOptions> roi_align_options(const ir::Node& node) {
  RoiAlignOptions o;
  const InferContext ctx(node);
  const std::string mode = node.attrs.get_string("mode", "avg");
  if (mode != "avg" && mode != "max")
    return ctx.error("attribute mode is \"" + mode + "\", expected avg or max");
  const std::string transform = node.attrs.get_string("coordinate_transformation_mode", "half_pixel");
  if (transform != "half_pixel" && transform != "output_half_pixel")
    return ctx.error("attribute coordinate_transformation_mode is \"" + transform +
                     "\", expected half_pixel or output_half_pixel");
  o.takes_max = mode == "max";
  o.half_pixel = node.version >= 16 && transform == "half_pixel";
  o.height = node.attrs.get_int("output_height", 1);
  o.width = node.attrs.get_int("output_width", 1);
  o.sampling_ratio = node.attrs.get_int("sampling_ratio", 0);
  o.spatial_scale = node.attrs.get_float("spatial_scale", 1.0F);
  if (o.height < 1 || o.width < 1 || o.sampling_ratio < 0)
    return ctx.error("output_height " + std::to_string(o.height) + ", output_width " +
                     std::to_string(o.width) + " and sampling_ratio " + std::to_string(o.sampling_ratio) +
                     " must be >= 1, 1 and 0");
  return o;
}

void register_roi(Registry& registry) {
  registry.add({.name = "RoiAlign",
                .since = 10,
                .attrs = {{"coordinate_transformation_mode", AttrKind::String, false, 16},
                          {"mode", AttrKind::String},
                          {"output_height", AttrKind::Int},
                          {"output_width", AttrKind::Int},
                          {"sampling_ratio", AttrKind::Int},
                          {"spatial_scale", AttrKind::Float}},
                .inputs = {3, 3},
                .infer = infer_roi_align,
                .reference = reference_roi_align,
                .lower = lower_roi_align,
                .lowers = lowers_roi_align});
  registry.add({.name = "MaxRoiPool",
                .attrs = {{"pooled_shape", AttrKind::Ints, true}, {"spatial_scale", AttrKind::Float}},
                .inputs = {2, 2},
                .infer = infer_max_roi_pool,
                .reference = reference_max_roi_pool});
}

}  // namespace atc::ops
