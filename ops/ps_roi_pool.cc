#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/any_domain.h"
#include "ops/families.h"
#include "ops/infer_checks.h"

// PSROIPooling: position-sensitive region pooling of R-FCN. Bin (i, j) of output channel c averages input
// channel (c * group_size + i) * group_size + j over its part of the region.
namespace atc::ops {
namespace {

// Inputs: x [N, output_dim * group_size^2, H, W]; regions [B, 5, R] as Ascend has them, or [R, 5]; each is
// image, x1, y1, x2, y2. Output: [B * R, output_dim, group_size, group_size].

struct PsRoi {
  std::int64_t channels = 0;
  std::int64_t bins = 0;  ///< on each axis
  double scale = 1;
};

StatusOr<PsRoi> ps_roi_of(const ir::Node& node) {
  const PsRoi p{node.attrs.get_int("output_dim", 0), node.attrs.get_int("group_size", 0),
                node.attrs.get_float("spatial_scale", 0)};
  if (p.channels < 1 || p.bins < 1 || p.bins >= 128 || !(p.scale > 0) || p.channels > INT32_MAX)
    return InferContext(node).error("attributes output_dim " + std::to_string(p.channels) + ", group_size " +
                                    std::to_string(p.bins) + " and spatial_scale " + std::to_string(p.scale) +
                                    " must be above 0, group_size below 128");
  return p;
}

Status infer_ps_roi_pool(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  ATC_TRY(require_rank(ctx, 0, 4, 4));
  ATC_TRY(require_rank(ctx, 1, 2, 3));
  ATC_ASSIGN(const PsRoi p, ps_roi_of(ctx.node()));
  const std::int64_t channels = p.channels * p.bins * p.bins;
  if (ctx.ranked(0) && conflicts(ctx.shape(0)[1], ir::Dim::of(channels)))
    return ctx.input_error(0,
                           "must have output_dim * group_size^2 = " + std::to_string(channels) + " channels");
  ir::Dim regions = ctx.unknown_dim();
  if (ctx.ranked(1)) {
    const ir::Shape& rois = ctx.shape(1);
    if (conflicts(rois[1], ir::Dim::of(5)))
      return ctx.input_error(1, "must have shape [batch,5,regions] or [regions,5]");
    if (rois.size() == 2)
      regions = rois[0];
    else if (rois[0].known() && rois[2].known())
      regions = ir::Dim::of(rois[0].value * rois[2].value);
  }
  ctx.set_output(0, ctx.dtype(0),
                 ir::Shape{regions, ir::Dim::of(p.channels), ir::Dim::of(p.bins), ir::Dim::of(p.bins)});
  return {};
}

struct Span {
  double start = 0;
  double bin = 0;  ///< length of a bin
};

/// A side of a region, its corners rounded to pixels, the last one included.
Span side(double first, double last, const PsRoi& p) {
  const double start = std::round(first) * p.scale;
  const double end = (std::round(last) + 1) * p.scale;
  return {start, std::max(end - start, 0.1) / static_cast<double>(p.bins)};
}

/// Pixels [first, last) that a bin touches.
std::pair<std::int64_t, std::int64_t> pixels(const Span& s, std::int64_t bin, std::int64_t size) {
  const auto limit = static_cast<double>(size);
  const double first = std::floor(s.start + static_cast<double>(bin) * s.bin);
  const double last = std::ceil(s.start + static_cast<double>(bin + 1) * s.bin);
  return {static_cast<std::int64_t>(std::clamp(first, 0.0, limit)),
          static_cast<std::int64_t>(std::clamp(last, 0.0, limit))};
}

Status reference_ps_roi_pool(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const Tensor& rois = ctx.input(1);
  ATC_ASSIGN(const PsRoi p, ps_roi_of(ctx.node()));
  const std::int64_t height = x.shape[2];
  const std::int64_t width = x.shape[3];
  const std::vector<double> in = to_doubles(x);
  const std::vector<double> values = to_doubles(rois);
  // Element k of a region: five in a row, or five rows of R each.
  const bool rows = rois.shape.size() == 2;
  const std::int64_t per_batch = rows ? rois.shape[0] : rois.shape[2];
  const std::int64_t regions = rows ? per_batch : rois.shape[0] * per_batch;
  const auto at = [&](std::int64_t r, std::int64_t k) {
    return values[static_cast<std::size_t>(rows ? 5 * r + k
                                                : (r / per_batch * 5 + k) * per_batch + r % per_batch)];
  };
  std::vector<double> y;
  for (std::int64_t r = 0; r < regions; ++r) {
    const double image = at(r, 0);
    if (!(image >= 0 && image < static_cast<double>(x.shape[0])))
      return ctx.error("region " + std::to_string(r) + " names image " + std::to_string(image) + " of " +
                       std::to_string(x.shape[0]));
    const Span across = side(at(r, 1), at(r, 3), p);
    const Span down = side(at(r, 2), at(r, 4), p);
    for (std::int64_t c = 0; c < p.channels; ++c)
      for (std::int64_t i = 0; i < p.bins; ++i)
        for (std::int64_t j = 0; j < p.bins; ++j) {
          const std::int64_t channel = (c * p.bins + i) * p.bins + j;
          const double* plane =
              in.data() + (static_cast<std::int64_t>(image) * x.shape[1] + channel) * height * width;
          const auto [h0, h1] = pixels(down, i, height);
          const auto [w0, w1] = pixels(across, j, width);
          double sum = 0;
          for (std::int64_t h = h0; h < h1; ++h)
            for (std::int64_t w = w0; w < w1; ++w) sum += plane[h * width + w];
          const bool empty = h0 >= h1 || w0 >= w1;
          y.push_back(empty ? 0 : sum / static_cast<double>((h1 - h0) * (w1 - w0)));
        }
  }
  ctx.outputs[0] = from_doubles(x.dtype, {regions, p.channels, p.bins, p.bins}, y);
  return {};
}

}  // namespace

void register_ps_roi_pool(Registry& r) {
  r.add({.name = "PSROIPooling",
         .domain = kAnyDomain,
         .attrs = {{"group_size", AttrKind::Int, true},
                   {"output_dim", AttrKind::Int, true},
                   {"spatial_scale", AttrKind::Float, true}},
         .inputs = {2, 2},
         .infer = infer_ps_roi_pool,
         .reference = reference_ps_roi_pool});
}

}  // namespace atc::ops
