#include <cmath>
#include <numeric>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

constexpr float kEpsilon = 1e-2F;

/// Mean and population variance, by E[x^2] - E[x]^2.
std::pair<double, double> statistics(const std::vector<double>& v) {
  const auto n = static_cast<double>(v.size());
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
  const double squares = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  return {mean, squares / n - mean * mean};
}

NodeCase& batch_norm_inputs(NodeCase& c, Dims x, std::int64_t channels) {
  c.typed(DType::F32, x);
  for (int i = 0; i < 4; ++i) c.typed(DType::F32, Dims{channels});
  return c;
}

TEST(BatchNormalization, InfersShape) {
  NodeCase c("BatchNormalization", 9);
  EXPECT_EQ(batch_norm_inputs(c, {2, 3, 4, 4}, 3).inferred(), "f32[2,3,4,4]");
  NodeCase wrong("BatchNormalization", 9);
  EXPECT_THAT(batch_norm_inputs(wrong, {2, 3, 4, 4}, 4).inferred(),
              AllOf(HasSubstr("input 1"), HasSubstr("has shape [4], expected [3]")));
}

TEST(BatchNormalization, UsesTheGivenStatistics) {
  const auto y = NodeCase("BatchNormalization", 15)
                     .data(f32({1, 2, 2}, {1, 2, 3, 4}))
                     .constant(f32({2}, {2, 1}))
                     .constant(f32({2}, {0, 10}))
                     .constant(f32({2}, {1, 3}))
                     .constant(f32({2}, {4 - 1e-2, 1 - 1e-2}))
                     .attr("epsilon", ir::Attribute(kEpsilon))
                     .run_one();
  expect_near(y, {1, 2, 2}, {0, 1, 10, 11});
}

TEST(BatchNormalization, PerActivationUpTo8) {
  const auto c = [](int version) {
    NodeCase node("BatchNormalization", version);
    return node.data(f32({1, 1, 2}, {1, 2}))
        .constant(f32({1, 2}, {1, 10}))
        .constant(f32({1, 2}, {0, 0}))
        .constant(f32({1, 2}, {0, 0}))
        .constant(f32({1, 2}, {1, 1}))
        .attr("epsilon", ir::Attribute(0.0F))
        .attr("spatial", 0)
        .inferred();
  };
  EXPECT_EQ(c(7), "f32[1,1,2]");
  EXPECT_THAT(c(9), HasSubstr("attribute spatial does not exist in opset 9"));
}

TEST(BatchNormalization, TrainingUpdatesTheRunningStatistics) {
  const Tensor x = noise_tensor({4, 2, 3}, 7);
  NodeCase c("BatchNormalization", 15, 3);
  c.data(x).constant(f32({2}, {1, 1})).constant(f32({2}, {0, 0})).constant(f32({2}, {5, 6}));
  c.constant(f32({2}, {7, 8})).attr("training_mode", 1).attr("momentum", ir::Attribute(0.75F));
  const auto out = c.run();
  const auto v = to_doubles(x);
  const auto y = to_doubles(out.at(0));
  for (std::size_t channel = 0; channel < 2; ++channel) {
    std::vector<double> of_channel;
    for (std::size_t n = 0; n < 4; ++n)
      for (std::size_t i = 0; i < 3; ++i) of_channel.push_back(v[(n * 2 + channel) * 3 + i]);
    const auto [mean, variance] = statistics(of_channel);
    EXPECT_NEAR(to_doubles(out[1])[channel], (5.0 + static_cast<double>(channel)) * 0.75 + mean * 0.25, 1e-5);
    EXPECT_NEAR(to_doubles(out[2])[channel], (7.0 + static_cast<double>(channel)) * 0.75 + variance * 0.25,
                1e-5);
    EXPECT_NEAR(y[channel * 3], (v[channel * 3] - mean) / std::sqrt(variance + 1e-5), 1e-4);
  }
  EXPECT_THAT(NodeCase("BatchNormalization", 15, 3)
                  .data(x)
                  .constant(f32({2}, {1, 1}))
                  .constant(f32({2}, {1, 1}))
                  .constant(f32({2}, {1, 1}))
                  .constant(f32({2}, {1, 1}))
                  .inferred(),
              HasSubstr("only training_mode 1 gives"));
}

TEST(InstanceNormalization, NormalizesEachPlane) {
  const Tensor x = noise_tensor({2, 3, 5}, 8);
  const Tensor y = NodeCase("InstanceNormalization", 6)
                       .data(x)
                       .constant(f32({3}, {1, 2, 3}))
                       .constant(f32({3}, {4, 5, 6}))
                       .attr("epsilon", ir::Attribute(kEpsilon))
                       .run_one();
  const auto v = to_doubles(x);
  std::vector<double> expected;
  for (std::size_t plane = 0; plane < 6; ++plane) {
    const std::vector<double> row(v.begin() + static_cast<std::ptrdiff_t>(plane * 5),
                                  v.begin() + static_cast<std::ptrdiff_t>(plane * 5 + 5));
    const auto [mean, variance] = statistics(row);
    const auto c = static_cast<double>(plane % 3);
    for (double e : row) expected.push_back((e - mean) / std::sqrt(variance + kEpsilon) * (1 + c) + 4 + c);
  }
  expect_near(y, {2, 3, 5}, expected);
  EXPECT_THAT(NodeCase("InstanceNormalization", 6)
                  .typed(DType::F32, Dims{1, 3, 4})
                  .typed(DType::F32, Dims{2})
                  .typed(DType::F32, Dims{3})
                  .inferred(),
              HasSubstr("has 2 elements, expected 3"));
}

TEST(GroupNormalization, ParametersAreOfGroupsIn18AndOfChannelsSince21) {
  const Tensor x = f32({1, 4, 1}, {1, 3, 10, 30});
  const auto run = [&](int version, Tensor scale) {
    const Dims shape = scale.shape;
    return NodeCase("GroupNormalization", version)
        .data(x)
        .constant(std::move(scale))
        .constant(MutableTensor(DType::F32, shape).freeze())
        .attr("num_groups", 2)
        .attr("epsilon", ir::Attribute(0.0F))
        .run_one();
  };
  expect_near(run(18, f32({2}, {1, 10})), {1, 4, 1}, {-1, 1, -10, 10});
  expect_near(run(21, f32({4}, {1, 2, 3, 4})), {1, 4, 1}, {-1, 2, -3, 4});
  EXPECT_THAT(NodeCase("GroupNormalization", 21)
                  .typed(DType::F32, Dims{1, 5, 2})
                  .typed(DType::F32, Dims{5})
                  .typed(DType::F32, Dims{5})
                  .attr("num_groups", 2)
                  .inferred(),
              HasSubstr("has 5 channels, not a multiple of num_groups 2"));
}

TEST(MeanVarianceNormalization, DefaultAxes) {
  const Tensor x = noise_tensor({2, 3, 2, 2}, 9);
  const Tensor y = NodeCase("MeanVarianceNormalization", 13).data(x).run_one();
  const auto v = to_doubles(x);
  std::vector<double> channel;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t i = 0; i < 4; ++i) channel.push_back(v[(n * 3 + 1) * 4 + i]);
  const auto [mean, variance] = statistics(channel);
  EXPECT_NEAR(to_doubles(y)[4], (v[4] - mean) / std::sqrt(variance), 1e-5);
  EXPECT_THAT(NodeCase("MeanVarianceNormalization", 13).typed(DType::F32, Dims{2, 3}).inferred(),
              HasSubstr("axis 2 of axes [0,2,3] is outside [-2, 2)"));
}

TEST(LayerNormalization, NormalizesTrailingAxes) {
  const Tensor x = noise_tensor({2, 3, 4}, 10);
  NodeCase c("LayerNormalization", 17, 3);
  c.data(x).constant(noise_tensor({3, 4}, 11)).constant(noise_tensor({4}, 12)).attr("axis", 1);
  const auto out = c.run();
  const auto v = to_doubles(x);
  const auto scale = to_doubles(noise_tensor({3, 4}, 11));
  const auto bias = to_doubles(noise_tensor({4}, 12));
  std::vector<double> expected;
  for (std::size_t row = 0; row < 2; ++row) {
    const std::vector<double> r(v.begin() + static_cast<std::ptrdiff_t>(row * 12),
                                v.begin() + static_cast<std::ptrdiff_t>(row * 12 + 12));
    const auto [mean, variance] = statistics(r);
    for (std::size_t i = 0; i < 12; ++i)
      expected.push_back((r[i] - mean) / std::sqrt(variance + 1e-5) * scale[i] + bias[i % 4]);
    EXPECT_NEAR(to_doubles(out.at(1))[row], mean, 1e-6);
    EXPECT_NEAR(to_doubles(out.at(2))[row], 1 / std::sqrt(variance + 1e-5), 1e-5);
  }
  expect_near(out.at(0), {2, 3, 4}, expected);
  EXPECT_EQ(out[1].shape, (Dims{2, 1, 1}));
}

TEST(LayerNormalization, StatisticsHaveTheStashType) {
  NodeCase c("LayerNormalization", 17, 2);
  c.typed(DType::F16, Dims{2, 8}).typed(DType::F16, Dims{8});
  EXPECT_EQ(c.inferred(0), "f16[2,8]");
  EXPECT_EQ(c.inferred(1), "f32[2,1]");
  EXPECT_THAT(c.attr("stash_type", 7).inferred(), HasSubstr("attribute stash_type is 7"));
}

TEST(LayerNormalization, Refusals) {
  EXPECT_THAT(
      NodeCase("LayerNormalization", 17).typed(DType::F32, Dims{2, 8}).typed(DType::F32, Dims{7}).inferred(),
      HasSubstr("does not broadcast to the data's shape [2,8]"));
  EXPECT_THAT(NodeCase("LayerNormalization", 17)
                  .typed(DType::F32, Dims{2, 8})
                  .typed(DType::F32, Dims{8})
                  .attr("axis", 2)
                  .inferred(),
              HasSubstr("attribute axis is 2, outside [-2, 2)"));
}

TEST(RMSNormalization, DividesByTheRootMeanSquare) {
  const auto y = NodeCase("RMSNormalization", 23)
                     .data(f32({1, 2}, {3, 4}))
                     .constant(f32({2}, {1, 2}))
                     .attr("epsilon", ir::Attribute(0.0F))
                     .run_one();
  expect_near(y, {1, 2}, {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)});
}

TEST(LpNormalization, BothOrders) {
  const auto x = f32({2, 2}, {3, 4, 0, 0});
  expect_near(NodeCase("LpNormalization", 1).data(x).run_one(), {2, 2}, {0.6, 0.8, 0, 0});
  expect_near(NodeCase("LpNormalization", 1).data(x).attr("p", 1).attr("axis", 0).run_one(), {2, 2},
              {1, 1, 0, 0});
  EXPECT_THAT(NodeCase("LpNormalization", 1).data(x).attr("p", 3).inferred(),
              HasSubstr("attribute p is 3, expected 1 or 2"));
}

TEST(LRN, WindowOfChannels) {
  const auto y = NodeCase("LRN", 13)
                     .data(f32({1, 4, 1}, {1, 2, 3, 4}))
                     .attr("size", 2)
                     .attr("alpha", ir::Attribute(2.0F))
                     .attr("beta", ir::Attribute(1.0F))
                     .run_one();
  // An even window reaches one further up than down.
  expect_near(y, {1, 4, 1}, {1.0 / (1 + 5), 2.0 / (1 + 13), 3.0 / (1 + 25), 4.0 / (1 + 16)});
}

// Of sums ---------------------------------------------------------------------------------------------

NodeCase& add_norm(NodeCase& c) {
  return c.data(f32({2, 2}, {1, 2, 3, 0}))
      .data(f32({2}, {1, 4}))
      .constant(f32({2}, {2, 3}))
      .attr("epsilon", ir::Attribute(0.0F));
}

TEST(AddNorm, NormalizesTheSum) {
  // Sums 2 6 and 4 4: means 4 and 4, deviations 2 and 0.
  NodeCase layer("AddLayerNorm", 0, 2, "atc");
  const auto y = add_norm(layer).constant(f32({2}, {10, 20})).attr("epsilon", ir::Attribute(5.0F)).run();
  expect_near(y[0], {2, 2}, {10 - 2 * 2.0 / 3, 20 + 3 * 2.0 / 3, 10, 20});
  expect_near(y[1], {2, 2}, {2, 6, 4, 4});
  NodeCase rms("AddRmsNorm", 0, 2, "atc");
  const auto z = add_norm(rms).run();
  expect_near(z[0], {2, 2}, {2 * 2 / std::sqrt(20), 3 * 6 / std::sqrt(20), 2, 3});
  expect_near(z[1], {2, 2}, {2, 6, 4, 4});
}

TEST(AddNorm, Refusals) {
  NodeCase wide("AddLayerNorm", 0, 1, "atc");
  EXPECT_THAT(
      wide.typed(DType::F32, Dims{2}).typed(DType::F32, Dims{3, 2}).typed(DType::F32, Dims{2}).inferred(),
      HasSubstr("does not broadcast"));
  NodeCase types("AddRmsNorm", 0, 1, "atc");
  EXPECT_THAT(
      types.typed(DType::F32, Dims{2}).typed(DType::F16, Dims{2}).typed(DType::F32, Dims{2}).inferred(),
      HasSubstr("f16"));
}

}  // namespace
}  // namespace atc::ops
