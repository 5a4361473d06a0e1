#include <algorithm>
#include <string>
#include <vector>

#include "ops/any_domain.h"
#include "ops/box_iou.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

// BatchMultiClassNMS: Ascend's non-maximum suppression for all classes of a batch (CANN:
// BatchMultiClassNonMaxSuppression). A fixed number of rows; those without a box are zero.
namespace atc::ops {
namespace {

// Inputs: boxes [batch, boxes, classes or 1, 4] (or [batch, boxes, 4]), scores [batch, boxes, classes].
constexpr std::size_t kScores = 1;
// Outputs: boxes [batch, max_total_size, 4], their scores and classes [batch, max_total_size], and how many
// there are [batch], i32.
constexpr std::size_t kOutScores = 1;
constexpr std::size_t kOutClasses = 2;
constexpr std::size_t kOutCount = 3;

struct NmsLimits {
  double score_threshold = 0;  ///< only scores above
  double iou_threshold = 0;    ///< boxes that overlap more are dropped
  std::int64_t per_class = 0;
  std::int64_t total = 0;
};

StatusOr<NmsLimits> limits_of(const ir::Node& node) {
  const NmsLimits l{node.attrs.get_float("score_threshold", 0), node.attrs.get_float("iou_threshold", 0),
                    node.attrs.get_int("max_size_per_class", 0), node.attrs.get_int("max_total_size", 0)};
  const InferContext ctx(node);
  if (!(l.iou_threshold >= 0 && l.iou_threshold <= 1))
    return ctx.error("attribute iou_threshold is " + std::to_string(l.iou_threshold) + ", expected 0 to 1");
  if (l.per_class < 1 || l.total < 1)
    return ctx.error("attributes max_size_per_class " + std::to_string(l.per_class) + " and max_total_size " +
                     std::to_string(l.total) + " must be at least 1");
  return l;
}

Status infer_nms(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_same_dtype(ctx, kScores, 0));
  ATC_TRY(require_rank(ctx, 0, 3, 4));
  ATC_TRY(require_rank(ctx, kScores, 3, 3));
  ATC_ASSIGN(const NmsLimits limits, limits_of(ctx.node()));
  ir::Dim batch = ctx.ranked(kScores) ? ctx.shape(kScores)[0] : ctx.unknown_dim();
  if (ctx.ranked(0)) {
    const ir::Shape& boxes = ctx.shape(0);
    bool fits = !conflicts(boxes.back(), ir::Dim::of(4));
    if (ctx.ranked(kScores)) {
      const ir::Shape& scores = ctx.shape(kScores);
      fits = fits && !conflicts(boxes[0], scores[0]) && !conflicts(boxes[1], scores[1]);
      if (boxes.size() == 4 && boxes[2] != ir::Dim::of(1)) fits = fits && !conflicts(boxes[2], scores[2]);
    }
    if (!fits)
      return ctx.input_error(
          0, "must have shape [batch,boxes,classes or 1,4] for scores [batch,boxes,classes]" +
                 (ctx.ranked(kScores) ? " of [" + ir::to_string(ctx.shape(kScores)) + "]" : std::string()));
    batch = merge(batch, boxes[0]);
  }
  const ir::Dim total = ir::Dim::of(limits.total);
  ctx.set_output(0, ctx.dtype(0), ir::Shape{batch, total, ir::Dim::of(4)});
  ctx.set_output(kOutScores, ctx.dtype(0), ir::Shape{batch, total});
  ctx.set_output(kOutClasses, ctx.dtype(0), ir::Shape{batch, total});
  ctx.set_output(kOutCount, DType::I32, ir::Shape{batch});
  return {};
}

struct Detection {
  double score = 0;
  std::int64_t label = 0;
  CornerBox box;
};

/// Suppression within each class, then the best of all classes by falling score (equal scores: the lower
/// class first).
std::vector<Detection> detect(const double* boxes, std::int64_t box_classes, const double* scores,
                              std::int64_t count, std::int64_t classes, const NmsLimits& limits) {
  std::vector<Detection> found;
  for (std::int64_t c = 0; c < classes; ++c) {
    std::vector<CornerBox> of_class;
    std::vector<double> score;
    for (std::int64_t i = 0; i < count; ++i) {
      const double* v = boxes + 4 * (i * box_classes + (box_classes == 1 ? 0 : c));
      of_class.push_back({v[0], v[1], v[2], v[3]});
      score.push_back(scores[i * classes + c]);
    }
    for (const std::int64_t i :
         suppress_non_maxima(of_class, score, limits.score_threshold, limits.iou_threshold, limits.per_class))
      found.push_back({score[static_cast<std::size_t>(i)], c, of_class[static_cast<std::size_t>(i)]});
  }
  std::ranges::stable_sort(found, [](const Detection& a, const Detection& b) { return a.score > b.score; });
  if (std::ssize(found) > limits.total) found.resize(static_cast<std::size_t>(limits.total));
  return found;
}

Status reference_nms(EvalContext& ctx) {
  const Tensor& boxes = ctx.input(0);
  const Tensor& scores = ctx.input(kScores);
  ATC_ASSIGN(const NmsLimits limits, limits_of(ctx.node()));
  const std::int64_t batch = scores.shape[0];
  const std::int64_t count = scores.shape[1];
  const std::int64_t classes = scores.shape[2];
  const std::int64_t box_classes = boxes.shape.size() == 4 ? boxes.shape[2] : 1;
  const std::int64_t rows = batch * limits.total;
  if (element_count(std::vector{batch, limits.total, std::int64_t{4}}) < 0)
    return ctx.error("attribute max_total_size is " + std::to_string(limits.total) + ", too many rows");
  const std::vector<double> corners = to_doubles(boxes);
  const std::vector<double> all_scores = to_doubles(scores);
  std::vector<double> out_boxes(static_cast<std::size_t>(4 * rows));
  std::vector<double> out_scores(static_cast<std::size_t>(rows));
  std::vector<double> out_classes(static_cast<std::size_t>(rows));
  std::vector<std::int64_t> out_count;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::vector<Detection> found =
        detect(corners.data() + 4 * b * count * box_classes, box_classes,
               all_scores.data() + b * count * classes, count, classes, limits);
    out_count.push_back(std::ssize(found));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t row = static_cast<std::size_t>(b * limits.total) + i;
      const CornerBox& box = found[i].box;
      std::ranges::copy(std::vector{box.a0, box.b0, box.a1, box.b1},
                        out_boxes.begin() + 4 * static_cast<std::ptrdiff_t>(row));
      out_scores[row] = found[i].score;
      out_classes[row] = static_cast<double>(found[i].label);
    }
  }
  const Dims shape = {batch, limits.total};
  ctx.outputs[0] = from_doubles(boxes.dtype, {batch, limits.total, 4}, out_boxes);
  const auto set = [&](std::size_t i, Tensor t) {
    if (i < ctx.outputs.size()) ctx.outputs[i] = std::move(t);
  };
  set(kOutScores, from_doubles(boxes.dtype, shape, out_scores));
  set(kOutClasses, from_doubles(boxes.dtype, shape, out_classes));
  set(kOutCount, from_int64s(DType::I32, {batch}, out_count));
  return {};
}

}  // namespace

void register_batch_multi_class_nms(Registry& r) {
  r.add({.name = "BatchMultiClassNMS",
         .domain = kAnyDomain,
         .attrs = {{"image_size", AttrKind::Ints},  // kept for old exports, without a meaning
                   {"iou_threshold", AttrKind::Float, true},
                   {"max_size_per_class", AttrKind::Int, true},
                   {"max_total_size", AttrKind::Int, true},
                   {"score_threshold", AttrKind::Float, true}},
         .inputs = {2, 2},
         .outputs = {1, 4},
         .infer = infer_nms,
         .reference = reference_nms});
}

}  // namespace atc::ops
