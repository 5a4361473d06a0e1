#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/any_domain.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/roi_align.h"

// RoiExtractor: Ascend's RoiAlign over the levels of a feature pyramid, as MMDetection's SingleRoIExtractor.
// Inputs: the levels [N, C, h, w], finest first, then the regions [R, 5]: image, x1, y1, x2, y2.
namespace atc::ops {
namespace {

struct Pyramid {
  double finest_scale = 56;          ///< size of a region up to which the finest level serves
  double roi_scale_factor = 0;       ///< regions grow by it around their middle; 0: they stay
  std::vector<float> spatial_scale;  ///< of each level
  RoiAlignOptions align;
};

StatusOr<Pyramid> pyramid_of(const ir::Node& node) {
  const InferContext ctx(node);
  const ir::Attributes& attrs = node.attrs;
  Pyramid p;
  p.finest_scale = static_cast<double>(attrs.get_int("finest_scale", 56));
  p.roi_scale_factor = attrs.get_float("roi_scale_factor", 0);
  p.spatial_scale = attrs.get_floats("spatial_scale", {1.0F / 4, 1.0F / 8, 1.0F / 16, 1.0F / 32});
  p.align.height = attrs.get_int("pooled_height", 7);
  p.align.width = attrs.get_int("pooled_width", 7);
  p.align.sampling_ratio = attrs.get_int("sample_num", 0);
  p.align.half_pixel = attrs.get_int("aligned", 1) != 0;
  const std::string mode = attrs.get_string("pool_mode", "avg");
  if (mode != "avg") return ctx.error("attribute pool_mode is '" + mode + "', only avg is known");
  const std::size_t levels = node.inputs().size() - 1;
  if (p.spatial_scale.size() < levels)
    return ctx.error("attribute spatial_scale has " + std::to_string(p.spatial_scale.size()) +
                     " values for " + std::to_string(levels) + " feature maps");
  if (!(p.finest_scale > 0) || p.align.height < 1 || p.align.width < 1 || p.align.sampling_ratio < 0)
    return ctx.error("finest_scale, pooled_height and pooled_width must be at least 1, sample_num 0");
  return p;
}

Status infer_roi_extractor(InferContext& ctx) {
  const std::size_t rois = ctx.input_count() - 1;
  ATC_TRY(require_float(ctx, 0));
  ir::Dim channels = ctx.unknown_dim();
  for (std::size_t i = 0; i < rois; ++i) {
    if (!ctx.has_input(i)) return ctx.error("feature map " + std::to_string(i) + " is absent");
    ATC_TRY(require_same_dtype(ctx, i, 0));
    ATC_TRY(require_rank(ctx, i, 4, 4));
    if (!ctx.ranked(i)) continue;
    if (conflicts(channels, ctx.shape(i)[1]))
      return ctx.input_error(i,
                             "must have the " + std::to_string(channels.value) + " channels of the others");
    channels = merge(channels, ctx.shape(i)[1]);
  }
  ATC_TRY(require_same_dtype(ctx, rois, 0));
  ATC_TRY(require_rank(ctx, rois, 2, 2));
  if (ctx.ranked(rois) && conflicts(ctx.shape(rois)[1], ir::Dim::of(5)))
    return ctx.input_error(rois, "must have shape [regions,5]");
  ATC_ASSIGN(const Pyramid p, pyramid_of(ctx.node()));
  ctx.set_output(0, ctx.dtype(0),
                 ir::Shape{ctx.ranked(rois) ? ctx.shape(rois)[0] : ctx.unknown_dim(), channels,
                           ir::Dim::of(p.align.height), ir::Dim::of(p.align.width)});
  return {};
}

/// Each doubling of a region's size beyond finest_scale goes one level up.
std::size_t level_of(const double* region, double finest_scale, std::size_t levels) {
  const double size = std::sqrt(std::max((region[2] - region[0]) * (region[3] - region[1]), 0.0));
  const double level = std::floor(std::log2(size / finest_scale + 1e-6));
  return static_cast<std::size_t>(std::clamp(level, 0.0, static_cast<double>(levels - 1)));
}

Status reference_roi_extractor(EvalContext& ctx) {
  ATC_ASSIGN(Pyramid p, pyramid_of(ctx.node()));
  const std::size_t levels = ctx.input_count() - 1;
  std::vector<std::vector<double>> maps;
  for (std::size_t i = 0; i < levels; ++i) maps.push_back(to_doubles(ctx.input(i)));
  const Tensor& rois = ctx.input(levels);
  const std::vector<double> regions = to_doubles(rois);
  std::vector<double> y;
  for (std::int64_t r = 0; r < rois.shape[0]; ++r) {
    const double* row = regions.data() + 5 * r;
    double region[4] = {row[1], row[2], row[3], row[4]};
    const std::size_t level = level_of(region, p.finest_scale, levels);
    const Dims& shape = ctx.input(level).shape;
    if (!(row[0] >= 0 && row[0] < static_cast<double>(shape[0])))
      return ctx.error("region " + std::to_string(r) + " names image " + std::to_string(row[0]) + " of " +
                       std::to_string(shape[0]));
    if (p.roi_scale_factor > 0)
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const double middle = (region[axis] + region[axis + 2]) / 2;
        const double half = (region[axis + 2] - region[axis]) * p.roi_scale_factor / 2;
        region[axis] = middle - half;
        region[axis + 2] = middle + half;
      }
    p.align.spatial_scale = static_cast<double>(p.spatial_scale[level]);
    const std::int64_t image = static_cast<std::int64_t>(row[0]) * shape[1] * shape[2] * shape[3];
    align_region({maps[level].data() + image, shape[1], shape[2], shape[3]}, region, p.align, y);
  }
  ctx.outputs[0] = from_doubles(ctx.input(0).dtype,
                                {rois.shape[0], ctx.input(0).shape[1], p.align.height, p.align.width}, y);
  return {};
}

}  // namespace

void register_roi_extractor(Registry& r) {
  r.add({.name = "RoiExtractor",
         .domain = kAnyDomain,
         .attrs = {{"aligned", AttrKind::Int},
                   {"finest_scale", AttrKind::Int},
                   {"pool_mode", AttrKind::String},
                   {"pooled_height", AttrKind::Int},
                   {"pooled_width", AttrKind::Int},
                   {"roi_scale_factor", AttrKind::Float},
                   {"sample_num", AttrKind::Int},
                   {"spatial_scale", AttrKind::Floats}},
         .inputs = {2, INT_MAX},
         .infer = infer_roi_extractor,
         .reference = reference_roi_extractor});
}

}  // namespace atc::ops
