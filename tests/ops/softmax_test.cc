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

}  // namespace
}  // namespace atc::ops
