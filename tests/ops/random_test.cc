#include <cmath>

#include "ops/node_case.h"
#include "ops/random_stream.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

// What NumPy gives: RandomState(0).random_sample, RandomState(0).standard_normal,
// RandomState(1234).random_sample.
const std::vector<double> kUniform0 = {0.5488135039273248, 0.7151893663724195, 0.6027633760716439,
                                       0.5448831829968969, 0.4236547993389047, 0.6458941130666561};
const std::vector<double> kNormal0 = {1.764052345967664, 0.4001572083672233, 0.9787379841057392,
                                      2.240893199201458, 1.8675579901499675, -0.977277879876411};
const std::vector<double> kUniform1234 = {0.1915194503788923, 0.6221087710398319, 0.4377277390071145};

TEST(RandomStream, IsThatOfTheStandardsReference) {
  RandomStream uniform(0);
  for (double expected : kUniform0) EXPECT_DOUBLE_EQ(uniform.uniform(), expected);
  RandomStream normal(0);
  for (double expected : kNormal0) EXPECT_DOUBLE_EQ(normal.normal(), expected);
  RandomStream other(1234);
  for (double expected : kUniform1234) EXPECT_DOUBLE_EQ(other.uniform(), expected);
}

TEST(Random, SeedScaleAndShift) {
  std::vector<double> uniform;
  std::vector<double> normal;
  for (double v : kUniform0) uniform.push_back(-1 + 3 * v);
  for (double v : kNormal0) normal.push_back(5 + 0.5 * v);
  NodeCase u("RandomUniform", 1);
  u.ints("shape", {2, 3}).attr("low", -1.0F).attr("high", 2.0F).attr("seed", 0.0F);
  expect_near(u.run_one(), {2, 3}, uniform);
  NodeCase n("RandomNormal", 22);
  n.ints("shape", {6}).attr("mean", 5.0F).attr("scale", 0.5F).attr("seed", 0.0F).attr("dtype", 11);
  EXPECT_EQ(n.inferred(), "f64[6]");
  expect_near(n.run_one(), {6}, normal, 1e-12);
}

TEST(Random, LikeTakesShapeAndType) {
  NodeCase like("RandomUniformLike", 1);
  like.typed(DType::F16, Dims{3}).attr("seed", 1234.0F);
  EXPECT_EQ(like.inferred(), "f16[3]");
  NodeCase run("RandomUniformLike", 1);
  expect_near(run.data(f32({3}, {7, 8, 9})).attr("seed", 1234.0F).run_one(), {3}, kUniform1234);
  NodeCase normal("RandomNormalLike", 1);
  normal.data(i64({2, 1}, {1, 2})).attr("dtype", 1).attr("seed", 0.0F);
  expect_near(normal.run_one(), {2, 1}, {kNormal0[0], kNormal0[1]});
}

TEST(Random, WithoutASeedRunsAgreeAndNodesDiffer) {
  const auto run = [](const char* name) {
    NodeCase c("RandomNormal", 1);
    c.node().output(0)->set_name(name);
    return to_doubles(c.ints("shape", {8}).run_one());
  };
  EXPECT_EQ(run("a"), run("a"));
  EXPECT_NE(run("a"), run("b"));
}

TEST(Random, Refuses) {
  EXPECT_THAT(NodeCase("RandomNormal", 1).inferred(), HasSubstr("required attribute shape is missing"));
  EXPECT_THAT(NodeCase("RandomNormal", 1).ints("shape", {2}).attr("dtype", 7).inferred(),
              HasSubstr("dtype is i64, which this operator does not give"));
  EXPECT_THAT(NodeCase("RandomUniform", 1).ints("shape", {-2}).inferred(), HasSubstr("is no possible shape"));
  EXPECT_THAT(NodeCase("RandomNormalLike", 1).typed(DType::I64, Dims{2}).inferred(),
              HasSubstr("dtype is i64"));
}

TEST(Bernoulli, FollowsItsProbabilities) {
  NodeCase sure("Bernoulli", 15);
  expect_near(sure.data(f32({4}, {0, 1, 1, 0})).attr("seed", 3.0F).run_one(), {4}, {0, 1, 1, 0});
  // NumPy: RandomState(7).binomial(1, [0.5] * 4 + [0.7] * 2).
  NodeCase known("Bernoulli", 15);
  known.data(f32({6}, {0.5, 0.5, 0.5, 0.5, 0.7, 0.7})).attr("seed", 7.0F).attr("dtype", 7);
  EXPECT_THAT(to_int64s(known.run_one()), ::testing::ElementsAre(0, 1, 0, 1, 0, 1));
  NodeCase many("Bernoulli", 22);
  const auto y =
      to_doubles(many.data(f32({4000}, std::vector<double>(4000, 0.3))).attr("seed", 5.0F).run_one());
  double ones = 0;
  for (double v : y) ones += v;
  EXPECT_NEAR(ones / 4000, 0.3, 0.03);  // four standard deviations
  NodeCase bad("Bernoulli", 15);
  bad.data(f32({1}, {1.5}));
  const Tensor p = f32({1}, {1.5});
  EvalContext ctx(bad.node(), {&p});
  EXPECT_THAT(Registry::instance().find(bad.node())->reference(ctx).to_string(), HasSubstr("outside [0, 1]"));
}

TEST(Multinomial, FollowsItsWeights) {
  NodeCase c("Multinomial", 7);
  // Log weights of probabilities 0.2, 0.5, 0.3, shifted; and of one class alone.
  c.data(f32({2, 3}, {7 + std::log(0.2), 7 + std::log(0.5), 7 + std::log(0.3), -200, 0, -200}));
  c.attr("sample_size", 4000).attr("seed", 1.0F);
  EXPECT_EQ(c.inferred(), "i32[2,4000]");
  const auto y = to_int64s(c.run_one());
  double counts[3] = {};
  for (std::size_t i = 0; i < 4000; ++i) ++counts[y[i]];
  EXPECT_NEAR(counts[0] / 4000, 0.2, 0.026);
  EXPECT_NEAR(counts[1] / 4000, 0.5, 0.032);
  for (std::size_t i = 4000; i < 8000; ++i) EXPECT_EQ(y[i], 1);
  EXPECT_THAT(NodeCase("Multinomial", 7).typed(DType::F32, Dims{2, 3}).attr("sample_size", 0).inferred(),
              HasSubstr("sample_size is 0"));
}

TEST(Dropout, TrainingDropsBySeed) {
  NodeCase c("Dropout", 13, 2);
  c.data(f32({6}, {1, 2, 3, 4, 5, 6}))
      .data(f32({}, {0.6}))
      .data(tensor_of(DType::Bool, {}, {1}))
      .attr("seed", 0);
  const auto y = c.run();
  std::vector<double> kept;
  std::vector<double> expected;
  for (std::size_t i = 0; i < 6; ++i) {
    kept.push_back(kUniform0[i] >= 0.6 ? 1 : 0);
    expected.push_back(static_cast<double>(i + 1) * kept.back() / 0.4);
  }
  expect_near(y.at(0), {6}, expected);
  expect_near(y.at(1), {6}, kept);
}

TEST(Dropout, IsTheIdentityOtherwise) {
  NodeCase c("Dropout", 13, 2);
  const auto y = c.data(f32({2}, {1, 2})).constant(f32({}, {0.9})).run();
  expect_near(y.at(0), {2}, {1, 2});
  expect_near(y.at(1), {2}, {1, 1});
}

}  // namespace
}  // namespace atc::ops
