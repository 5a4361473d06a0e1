#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ops/axis_view.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

// Losses over classes: NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. Classes lie on axis 1 of the
// scores [N, C, d1, ...]; labels are [N, d1, ...]; a weight for each class may follow.
namespace atc::ops {
namespace {

constexpr std::size_t kLabels = 1;
constexpr std::size_t kWeight = 2;
constexpr std::string_view kReduction = "reduction";       // String, mean: mean, sum, none
constexpr std::string_view kIgnoreIndex = "ignore_index";  // Int; absent: no label is ignored

Status infer_loss(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_dtype(ctx, kLabels, kIndexTypes, "type i32 or i64"));
  ATC_TRY(require_same_dtype(ctx, kWeight, 0));
  ATC_TRY(require_rank(ctx, 0, 2));
  const std::string reduction = ctx.node().attrs.get_string(kReduction, "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return ctx.error("attribute reduction is '" + reduction + "', expected mean, sum or none");

  std::optional<ir::Shape> labels = ctx.type(kLabels).shape;
  if (ctx.ranked(0)) {
    ATC_TRY(require_vector(ctx, kWeight, ctx.shape(0)[1]));
    ir::Shape expected = ctx.shape(0);
    expected.erase(expected.begin() + 1);
    if (!labels) labels = expected;
    bool fits = labels->size() == expected.size();
    for (std::size_t i = 0; fits && i < expected.size(); ++i) {
      fits = !conflicts((*labels)[i], expected[i]);
      (*labels)[i] = merge((*labels)[i], expected[i]);
    }
    if (!fits)
      return ctx.input_error(kLabels, "must have the shape of the scores without their classes, [" +
                                          ir::to_string(expected) + "]");
  }
  ctx.set_output(0, ctx.dtype(0), reduction == "none" ? std::move(labels) : std::optional(ir::Shape{}));
  return {};
}

Status infer_softmax_cross_entropy(InferContext& ctx) {
  ATC_TRY(infer_loss(ctx));
  ctx.set_output(1, ctx.dtype(0), ctx.type(0).shape);
  return {};
}

/// -w[label] * log_prob[n, label, d...] of every label, then the reduction. A mean is the sum over the
/// weights of the labels that count.
StatusOr<Tensor> class_loss(const EvalContext& ctx, const std::vector<double>& log_prob) {
  const Tensor& scores = ctx.input(0);
  const AxisView view = axis_view(scores.shape, 1);
  const std::vector<std::int64_t> labels = to_int64s(ctx.input(kLabels));
  const auto classes = static_cast<std::int64_t>(view.length);
  const std::vector<double> weight =
      ctx.has_input(kWeight) ? to_doubles(ctx.input(kWeight)) : std::vector<double>(view.length, 1.0);
  std::optional<std::int64_t> ignored;
  if (ctx.node().attrs.has(kIgnoreIndex)) ignored = ctx.node().attrs.get_int(kIgnoreIndex, 0);

  std::vector<double> loss(labels.size(), 0.0);
  double sum = 0;
  double total_weight = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == ignored) continue;
    if (labels[i] < 0 || labels[i] >= classes)
      return ctx.error("label " + std::to_string(labels[i]) + " is outside the " + std::to_string(classes) +
                       " classes and is not ignore_index");
    const auto label = static_cast<std::size_t>(labels[i]);
    const std::size_t at = view.column(i / view.inner, i % view.inner) + label * view.inner;
    loss[i] = -weight[label] * log_prob[at];
    sum += loss[i];
    total_weight += weight[label];
  }
  const std::string reduction = ctx.node().attrs.get_string(kReduction, "mean");
  if (reduction == "none") return from_doubles(scores.dtype, ctx.input(kLabels).shape, loss);
  return scalar_tensor(scores.dtype, reduction == "sum" ? sum : sum / total_weight);
}

Status reference_negative_log_likelihood(EvalContext& ctx) {
  ATC_ASSIGN(ctx.outputs[0], class_loss(ctx, to_doubles(ctx.input(0))));
  return {};
}

/// x - max - log(sum(exp(x - max))) over the classes.
std::vector<double> log_softmax(const Tensor& scores) {
  const AxisView view = axis_view(scores.shape, 1);
  std::vector<double> x = to_doubles(scores);
  for (std::size_t o = 0; o < view.outer; ++o)
    for (std::size_t i = 0; i < view.inner; ++i) {
      double* column = x.data() + view.column(o, i);
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t c = 0; c < view.length; ++c) largest = std::max(largest, column[c * view.inner]);
      double sum = 0;
      for (std::size_t c = 0; c < view.length; ++c) sum += std::exp(column[c * view.inner] - largest);
      const double log_sum = largest + std::log(sum);
      for (std::size_t c = 0; c < view.length; ++c) column[c * view.inner] -= log_sum;
    }
  return x;
}

Status reference_softmax_cross_entropy(EvalContext& ctx) {
  const Tensor& scores = ctx.input(0);
  const std::vector<double> log_prob = log_softmax(scores);
  ATC_ASSIGN(ctx.outputs[0], class_loss(ctx, log_prob));
  if (ctx.outputs.size() > 1) ctx.outputs[1] = from_doubles(scores.dtype, scores.shape, log_prob);
  return {};
}

}  // namespace

void register_loss(Registry& r) {
  OpDef def{.name = "NegativeLogLikelihoodLoss",
            .since = 12,
            .attrs = {{kIgnoreIndex, AttrKind::Int}, {kReduction, AttrKind::String}},
            .inputs = {2, 3},
            .infer = infer_loss,
            .reference = reference_negative_log_likelihood};
  r.add(def);
  def.name = "SoftmaxCrossEntropyLoss";
  def.outputs = {1, 2};
  def.infer = infer_softmax_cross_entropy;
  def.reference = reference_softmax_cross_entropy;
  r.add(def);
}

}  // namespace atc::ops
