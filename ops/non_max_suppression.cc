#include <limits>
#include <string>
#include <vector>

#include "ops/box_iou.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// NonMaxSuppression: boxes that overlap no better one of their class. The number of rows hangs on data.
namespace atc::ops {
namespace {

// Inputs: boxes [batch, boxes, 4], scores [batch, classes, boxes], then scalars that may be left out.
constexpr std::size_t kScores = 1;
constexpr std::size_t kMaxPerClass = 2;     // i64, 0
constexpr std::size_t kIouThreshold = 3;    // f32, 0
constexpr std::size_t kScoreThreshold = 4;  // f32; absent: every score will do
// Int, 0: corners (y1, x1, y2, x2), either first; 1: (x center, y center, width, height).
constexpr std::string_view kCenterPointBox = "center_point_box";

Status require_scalar(const InferContext& ctx, std::size_t i, DTypeSet types, std::string_view what) {
  if (!ctx.has_input(i)) return {};
  ATC_TRY(require_dtype(ctx, i, types, what));
  if (const auto n = length_of(ctx, i); n && *n != 1) return ctx.input_error(i, "must be a scalar");
  return require_rank(ctx, i, 0, 1);
}

Status infer_non_max_suppression(InferContext& ctx) {
  for (std::size_t i = 0; i < 2; ++i) {
    ATC_TRY(require_float(ctx, i));
    ATC_TRY(require_rank(ctx, i, 3, 3));
  }
  ATC_TRY(require_scalar(ctx, kMaxPerClass, {DType::I64}, "type i64"));
  ATC_TRY(require_scalar(ctx, kIouThreshold, kFloatTypes, "a float type"));
  ATC_TRY(require_scalar(ctx, kScoreThreshold, kFloatTypes, "a float type"));
  const std::int64_t center = ctx.node().attrs.get_int(kCenterPointBox, 0);
  if (center != 0 && center != 1)
    return ctx.error("attribute center_point_box is " + std::to_string(center) + ", expected 0 or 1");
  if (ctx.ranked(0) && conflicts(ctx.shape(0)[2], ir::Dim::of(4)))
    return ctx.input_error(0, "must have shape [batch,boxes,4]");
  if (ctx.ranked(0) && ctx.ranked(kScores) &&
      (conflicts(ctx.shape(0)[0], ctx.shape(kScores)[0]) ||
       conflicts(ctx.shape(0)[1], ctx.shape(kScores)[2])))
    return ctx.input_error(kScores, "must have shape [batch,classes,boxes] for boxes of shape [" +
                                        ir::to_string(ctx.shape(0)) + "]");
  ctx.set_output(0, DType::I64, ir::Shape{ctx.unknown_dim(), ir::Dim::of(3)});
  return {};
}

std::vector<CornerBox> boxes_of(const std::vector<double>& values, std::int64_t first, std::int64_t count,
                                bool center_point) {
  std::vector<CornerBox> boxes;
  for (std::int64_t i = 0; i < count; ++i) {
    const double* v = values.data() + 4 * (first + i);
    if (center_point)
      boxes.push_back({v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2});
    else
      boxes.push_back({v[0], v[1], v[2], v[3]});
  }
  return boxes;
}

/// Rows (batch, class, box), ordered by batch, class and falling score.
Status reference_non_max_suppression(EvalContext& ctx) {
  const Tensor& boxes = ctx.input(0);
  const Tensor& scores = ctx.input(kScores);
  const bool center_point = ctx.node().attrs.get_int(kCenterPointBox, 0) == 1;
  const std::int64_t limit = ctx.has_input(kMaxPerClass) ? int_at(ctx.input(kMaxPerClass), 0) : 0;
  const double iou = ctx.has_input(kIouThreshold) ? double_at(ctx.input(kIouThreshold), 0) : 0;
  if (!(iou >= 0 && iou <= 1))
    return ctx.error("iou_threshold is " + std::to_string(iou) + ", expected 0 to 1");
  const double least = ctx.has_input(kScoreThreshold) ? double_at(ctx.input(kScoreThreshold), 0)
                                                      : -std::numeric_limits<double>::infinity();
  const std::int64_t batch = scores.shape[0];
  const std::int64_t classes = scores.shape[1];
  const std::int64_t count = scores.shape[2];
  if (boxes.shape[0] != batch || boxes.shape[1] != count)
    return ctx.error("boxes of shape [" + to_string(boxes.shape) + "] do not fit scores of shape [" +
                     to_string(scores.shape) + "]");
  const std::vector<double> corners = to_doubles(boxes);
  const std::vector<double> all_scores = to_doubles(scores);
  std::vector<std::int64_t> rows;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::vector<CornerBox> in_batch = boxes_of(corners, b * count, count, center_point);
    for (std::int64_t c = 0; c < classes; ++c) {
      const std::span of_class(all_scores.data() + (b * classes + c) * count,
                               static_cast<std::size_t>(count));
      for (const std::int64_t i : suppress_non_maxima(in_batch, of_class, least, iou, limit))
        rows.insert(rows.end(), {b, c, i});
    }
  }
  ctx.outputs[0] = from_int64s(DType::I64, {std::ssize(rows) / 3, 3}, rows);
  return {};
}

}  // namespace

void register_non_max_suppression(Registry& r) {
  r.add({.name = "NonMaxSuppression",
         .since = 10,
         .attrs = {{kCenterPointBox, AttrKind::Int}},
         .inputs = {2, 5},
         .infer = infer_non_max_suppression,
         .reference = reference_non_max_suppression});
}

}  // namespace atc::ops
