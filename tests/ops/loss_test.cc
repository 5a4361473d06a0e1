#include <cmath>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

// Scores [2, 3, 2] and labels [2, 2].
constexpr std::size_t kBatch = 2, kClasses = 3, kPlaces = 2;
const std::vector<std::int64_t> kLabels = {2, 0, 1, 2};
const std::vector<double> kWeights = {0.25, 2, 0.5};

double score(const std::vector<double>& scores, std::size_t n, std::size_t c, std::size_t d) {
  return scores[(n * kClasses + c) * kPlaces + d];
}

/// The cross entropy of one label as -x[label] + log(sum exp x), without a shift.
double cross_entropy(const std::vector<double>& scores, std::size_t n, std::size_t label, std::size_t d) {
  double sum = 0;
  for (std::size_t c = 0; c < kClasses; ++c) sum += std::exp(score(scores, n, c, d));
  return std::log(sum) - score(scores, n, label, d);
}

class Loss : public NodeCase {
 public:
  Loss(const char* op, const std::vector<double>& scores, const char* reduction, int outputs = 1)
      : NodeCase(op, 13, outputs) {
    data(f32({2, 3, 2}, scores)).data(i64({2, 2}, kLabels)).attr("reduction", reduction);
  }
};

TEST(NegativeLogLikelihoodLoss, Reductions) {
  const std::vector<double> x = noise(12, 1);
  std::vector<double> each;
  for (std::size_t n = 0; n < kBatch; ++n)
    for (std::size_t d = 0; d < kPlaces; ++d)
      each.push_back(-score(x, n, static_cast<std::size_t>(kLabels[n * kPlaces + d]), d));
  const double sum = each[0] + each[1] + each[2] + each[3];
  const char* op = "NegativeLogLikelihoodLoss";
  expect_near(Loss(op, x, "none").run_one(), {2, 2}, each);
  expect_near(Loss(op, x, "sum").run_one(), {}, {sum});
  expect_near(Loss(op, x, "mean").run_one(), {}, {sum / 4});
}

TEST(NegativeLogLikelihoodLoss, WeightsAndIgnoredLabels) {
  const std::vector<double> x = noise(12, 2);
  const char* op = "NegativeLogLikelihoodLoss";
  // Labels 2 0 / 1 2; label 1 does not count.
  const double sum = -0.5 * score(x, 0, 2, 0) - 0.25 * score(x, 0, 0, 1) - 0.5 * score(x, 1, 2, 1);
  Loss mean(op, x, "mean");
  mean.data(f32({3}, kWeights)).attr("ignore_index", 1);
  expect_near(mean.run_one(), {}, {sum / 1.25});
  Loss total(op, x, "sum");
  total.data(f32({3}, kWeights)).attr("ignore_index", 1);
  expect_near(total.run_one(), {}, {sum});
  // An ignored label need not be a class.
  NodeCase outside(op, 13);
  outside.data(f32({2, 3}, {1, 2, 3, 4, 5, 6})).data(i64({2}, {-5, 2})).attr("ignore_index", -5);
  expect_near(outside.attr("reduction", "none").run_one(), {2}, {0, -6});
}

TEST(SoftmaxCrossEntropyLoss, IsTheLossOfTheLogSoftmax) {
  const std::vector<double> x = noise(12, 3);
  std::vector<double> each;
  std::vector<double> log_prob(12);
  for (std::size_t n = 0; n < kBatch; ++n)
    for (std::size_t d = 0; d < kPlaces; ++d) {
      each.push_back(cross_entropy(x, n, static_cast<std::size_t>(kLabels[n * kPlaces + d]), d));
      for (std::size_t c = 0; c < kClasses; ++c)
        log_prob[(n * kClasses + c) * kPlaces + d] = -cross_entropy(x, n, c, d);
    }
  const auto y = Loss("SoftmaxCrossEntropyLoss", x, "none", 2).run();
  expect_near(y.at(0), {2, 2}, each);
  expect_near(y.at(1), {2, 3, 2}, log_prob);
  Loss weighted("SoftmaxCrossEntropyLoss", x, "mean");
  weighted.data(f32({3}, kWeights));
  const double sum = 0.5 * each[0] + 0.25 * each[1] + 2 * each[2] + 0.5 * each[3];
  expect_near(weighted.run_one(), {}, {sum / 3.25});
}

TEST(SoftmaxCrossEntropyLoss, LargeScoresDoNotOverflow) {
  NodeCase c("SoftmaxCrossEntropyLoss", 13);
  c.data(f32({1, 2}, {1000, 998})).data(i64({1}, {1}));
  expect_near(c.run_one(), {}, {2 + std::log1p(std::exp(-2.0))});
}

TEST(Losses, InferAndRefuse) {
  const auto infer = [](Dims labels, const char* reduction) {
    NodeCase c("SoftmaxCrossEntropyLoss", 12, 2);
    c.typed(DType::F16, Dims{2, 3, 5}).typed(DType::I32, labels).attr("reduction", reduction);
    return c.inferred();
  };
  EXPECT_EQ(infer({2, 5}, "none"), "f16[2,5]");
  EXPECT_EQ(infer({2, 5}, "mean"), "f16[]");
  EXPECT_THAT(infer({2, 4}, "mean"),
              HasSubstr("must have the shape of the scores without their classes, [2,5]"));
  EXPECT_THAT(infer({2, 5}, "max"), HasSubstr("expected mean, sum or none"));
  NodeCase label("NegativeLogLikelihoodLoss", 13);
  label.data(f32({1, 2}, {1, 2})).data(i64({1}, {2}));
  const Tensor x = f32({1, 2}, {1, 2});
  const Tensor bad = i64({1}, {2});
  EvalContext ctx(label.node(), {&x, &bad});
  EXPECT_THAT(Registry::instance().find(label.node())->reference(ctx).to_string(),
              HasSubstr("label 2 is outside the 2 classes"));
}

}  // namespace
}  // namespace atc::ops
