#include <cmath>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(Softmax, OneAxisSince13) {
  const auto y = NodeCase("Softmax", 13).data(f32({2, 2}, {0, std::log(3), 1000, 1000})).run_one();
  expect_near(y, {2, 2}, {0.25, 0.75, 0.5, 0.5});
  const auto column =
      NodeCase("Softmax", 13).data(f32({2, 2}, {0, 5, std::log(3), 5})).attr("axis", 0).run_one();
  expect_near(column, {2, 2}, {0.25, 0.5, 0.75, 0.5});
}

TEST(Softmax, FlattensBefore13) {
  const auto y = NodeCase("Softmax", 11).data(f32({1, 2, 2}, {0, 0, 0, std::log(5)})).run_one();
  expect_near(y, {1, 2, 2}, {0.125, 0.125, 0.125, 0.625});
  const auto last =
      NodeCase("Softmax", 11).data(f32({1, 2, 2}, {0, 0, 0, std::log(5)})).attr("axis", -1).run_one();
  expect_near(last, {1, 2, 2}, {0.5, 0.5, 1.0 / 6, 5.0 / 6});
}

TEST(Softmax, AxisMayBeTheRankBefore11) {
  expect_near(NodeCase("Softmax", 1).data(f32({2}, {3, 4})).run_one(), {2}, {1, 1});
  EXPECT_THAT(NodeCase("Softmax", 11).data(f32({2}, {3, 4})).inferred(),
              HasSubstr("attribute axis is 1, outside [-1, 1)"));
}

TEST(Softmax, Refusals) {
  EXPECT_THAT(NodeCase("Softmax", 13).typed(DType::I32, Dims{2, 2}).inferred(), HasSubstr("found i32"));
  EXPECT_THAT(NodeCase("Softmax", 13).typed(DType::F32, Dims{2, 2}).attr("axis", -3).inferred(),
              HasSubstr("attribute axis is -3, outside [-2, 2)"));
  EXPECT_EQ(NodeCase("Softmax", 13).typed(DType::BF16, std::nullopt).inferred(), "bf16[*]");
}

TEST(LogSoftmax, IsTheLogOfSoftmax) {
  const Tensor x = noise_tensor({3, 5, 2}, 1);
  for (int axis : {0, 1, 2}) {
    const Tensor y = NodeCase("Softmax", 13).data(x).attr("axis", axis).run_one();
    std::vector<double> expected;
    for (double v : to_doubles(y)) expected.push_back(std::log(v));
    expect_near(NodeCase("LogSoftmax", 13).data(x).attr("axis", axis).run_one(), {3, 5, 2}, expected);
  }
}

TEST(LogSoftmax, LargeInputs) {
  expect_near(NodeCase("LogSoftmax", 13).data(f32({2}, {-10000, 10000})).run_one(), {2}, {-20000, 0});
}

TEST(Hardmax, MarksTheFirstLargest) {
  expect_near(NodeCase("Hardmax", 13).data(f32({2, 3}, {1, 3, 3, 2, 1, 0})).run_one(), {2, 3},
              {0, 1, 0, 1, 0, 0});
  expect_near(NodeCase("Hardmax", 11).data(f32({1, 2, 2}, {1, 3, 3, 2})).run_one(), {1, 2, 2}, {0, 1, 0, 0});
}

// With what stands around it --------------------------------------------------------------------------

TEST(ScaledMaskedSoftmax, ScalesThenMasks) {
  const auto masked = [](const char* kind, Tensor mask) {
    return NodeCase("ScaledMaskedSoftmax", 0, 1, "atc")
        .data(f32({1, 2}, {0, 2 * std::log(3)}))
        .data(std::move(mask))
        .attr("scale", ir::Attribute(0.5F))
        .attr("mask_kind", ir::Attribute(std::string(kind)))
        .attr("fill", ir::Attribute(-1e9F))
        .run_one();
  };
  expect_near(masked("add", f32({2}, {std::log(3), 0})), {1, 2}, {0.5, 0.5});
  const Tensor first = from_doubles(DType::Bool, {2}, std::vector<double>{1, 0});
  expect_near(masked("keep", first), {1, 2}, {1, 0});
  expect_near(masked("drop", first), {1, 2}, {0, 1});
  expect_near(NodeCase("ScaledMaskedSoftmax", 0, 1, "atc")
                  .data(f32({2, 1}, {0, std::log(3)}))
                  .attr("axis", 0)
                  .run_one(),
              {2, 1}, {0.25, 0.75});
}

TEST(ScaledMaskedSoftmax, Refusals) {
  const auto inferred = [](const char* kind, DType mask, Dims dims) {
    return NodeCase("ScaledMaskedSoftmax", 0, 1, "atc")
        .typed(DType::F32, Dims{2, 3})
        .typed(mask, std::move(dims))
        .attr("mask_kind", ir::Attribute(std::string(kind)))
        .inferred();
  };
  EXPECT_EQ(inferred("add", DType::F32, {3}), "f32[2,3]");
  EXPECT_THAT(inferred("keep", DType::F32, {3}), HasSubstr("type bool"));
  EXPECT_THAT(inferred("add", DType::Bool, {3}), HasSubstr("bool"));
  EXPECT_THAT(inferred("add", DType::F32, {4, 2, 3}), HasSubstr("does not broadcast"));
  EXPECT_THAT(inferred("hide", DType::F32, {3}), HasSubstr("found 'hide'"));
}

TEST(SoftmaxWeightedSum, AveragesBySoftmaxWeights) {
  const auto y = NodeCase("SoftmaxWeightedSum", 0, 1, "atc")
                     .data(f32({1, 2, 2}, {1, 10, 5, 30}))
                     .data(f32({2, 1}, {0, std::log(3)}))
                     .attr("axis", 1)
                     .run_one();
  expect_near(y, {1, 1, 2}, {4, 25});
}

TEST(SoftmaxWeightedSum, Refusals) {
  const auto inferred = [](Dims scores, std::int64_t axis) {
    return NodeCase("SoftmaxWeightedSum", 0, 1, "atc")
        .typed(DType::F32, Dims{2, 5, 7})
        .typed(DType::F32, std::move(scores))
        .attr("axis", static_cast<int>(axis))
        .inferred();
  };
  EXPECT_EQ(inferred({5, 1}, 1), "f32[2,1,7]");
  EXPECT_THAT(inferred({2, 1, 7}, 1), HasSubstr("does not have axis 1 of the data in full"));
  EXPECT_THAT(inferred({7}, 1), HasSubstr("does not have axis 1 of the data in full"));
  EXPECT_THAT(inferred({3, 2, 5, 7}, 1), HasSubstr("does not broadcast"));
}

}  // namespace
}  // namespace atc::ops
