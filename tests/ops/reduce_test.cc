#include <cmath>
#include <limits>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(Reduce, InfersFromTheAttribute) {
  const auto reduce = [](std::vector<std::int64_t> axes, int keepdims) {
    return NodeCase("ReduceMean", 13)
        .typed(DType::F32, ir::Shape{ir::Dim::named("n"), ir::Dim::of(3), ir::Dim::named("h")})
        .ints("axes", std::move(axes))
        .attr("keepdims", keepdims)
        .inferred();
  };
  EXPECT_EQ(reduce({-1}, 1), "f32[n,3,1]");
  EXPECT_EQ(reduce({2, 1}, 0), "f32[n]");
  EXPECT_EQ(reduce({}, 1), "f32[1,1,1]");
  EXPECT_THAT(reduce({3}, 1), HasSubstr("axis 3 of axes [3] is outside [-3, 3)"));
  EXPECT_THAT(reduce({1, -2}, 1), HasSubstr("axes [1,-2] name an axis twice"));
}

TEST(Reduce, InfersFromTheInput) {
  EXPECT_EQ(NodeCase("ReduceSum", 13).typed(DType::F32, Dims{2, 3, 4}).constant(i64({1}, {1})).inferred(),
            "f32[2,1,4]");
  EXPECT_EQ(NodeCase("ReduceSum", 13).typed(DType::F32, Dims{2, 3, 4}).inferred(), "f32[1,1,1]");
  EXPECT_EQ(
      NodeCase("ReduceSum", 13).typed(DType::F32, Dims{2, 3, 4}).attr("noop_with_empty_axes", 1).inferred(),
      "f32[2,3,4]");
  // Axes that are data leave the rank where keepdims does, or their count tells it.
  EXPECT_EQ(NodeCase("ReduceSum", 13).typed(DType::F32, Dims{2, 3, 4}).typed(DType::I64, Dims{2}).inferred(),
            "f32[?0,?1,?2]");
  EXPECT_EQ(NodeCase("ReduceSum", 13)
                .typed(DType::F32, Dims{2, 3, 4})
                .typed(DType::I64, Dims{2})
                .attr("keepdims", 0)
                .inferred(),
            "f32[?0]");
  EXPECT_THAT(NodeCase("ReduceSum", 13).typed(DType::F32, Dims{2}).typed(DType::I32, Dims{1}).inferred(),
              HasSubstr("found i32"));
}

TEST(Reduce, AxesMoveFromAttributeToInput) {
  EXPECT_THAT(NodeCase("ReduceSum", 13).typed(DType::F32, Dims{2}).ints("axes", {0}).inferred(),
              HasSubstr("attribute axes does not exist in opset 13"));
  EXPECT_EQ(NodeCase("ReduceMax", 13).typed(DType::F32, Dims{2}).ints("axes", {0}).inferred(), "f32[1]");
  EXPECT_THAT(NodeCase("ReduceMax", 18).typed(DType::F32, Dims{2}).ints("axes", {0}).inferred(),
              HasSubstr("attribute axes does not exist in opset 18"));
}

TEST(Reduce, ExtremaOfBytesAndBools) {
  EXPECT_THAT(NodeCase("ReduceMax", 11).typed(DType::U8, Dims{2}).inferred(), HasSubstr("found u8"));
  EXPECT_EQ(NodeCase("ReduceMax", 12).typed(DType::U8, Dims{2}).inferred(), "u8[1]");
  EXPECT_EQ(NodeCase("ReduceMin", 20).typed(DType::Bool, Dims{2}).inferred(), "bool[1]");
  EXPECT_THAT(NodeCase("ReduceSum", 20).typed(DType::Bool, Dims{2}).inferred(), HasSubstr("found bool"));
}

struct Case {
  const char* op;
  std::vector<double> expected;  ///< over axis 1 of [[1, -2, 3], [0.5, 4, 0.25]]
};
class ReduceValues : public ::testing::TestWithParam<Case> {};
TEST_P(ReduceValues, AlongAnAxis) {
  const auto y = NodeCase(GetParam().op, 13)
                     .data(f32({2, 3}, {1, -2, 3, 0.5, 4, 0.25}))
                     .ints("axes", {1})
                     .attr("keepdims", 0)
                     .run_one();
  expect_near(y, {2}, GetParam().expected);
  const auto as_input = NodeCase(GetParam().op, 18)
                            .data(f32({2, 3}, {1, -2, 3, 0.5, 4, 0.25}))
                            .constant(i64({1}, {-1}))
                            .run_one();
  expect_near(as_input, {2, 1}, GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(All, ReduceValues,
                         ::testing::Values(Case{"ReduceL1", {6, 4.75}},
                                           Case{"ReduceL2", {std::sqrt(14.0), std::sqrt(16.3125)}},
                                           Case{"ReduceLogSum", {std::log(2.0), std::log(4.75)}},
                                           Case{"ReduceLogSumExp",
                                                {std::log(std::exp(1.0) + std::exp(-2.0) + std::exp(3.0)),
                                                 std::log(std::exp(0.5) + std::exp(4.0) + std::exp(0.25))}},
                                           Case{"ReduceMax", {3, 4}}, Case{"ReduceMean", {2.0 / 3, 4.75 / 3}},
                                           Case{"ReduceMin", {-2, 0.25}}, Case{"ReduceProd", {-6, 0.5}},
                                           Case{"ReduceSumSquare", {14, 16.3125}}),
                         [](const auto& p) { return std::string(p.param.op); });

TEST(ReduceSum, SeveralAxesOfHalf) {
  const Tensor x = tensor_of(DType::F16, {2, 2, 2}, {2048, 1, 1, 1, 0, 0, 0, 0.5});
  expect_near(NodeCase("ReduceSum", 13).data(x).constant(i64({2}, {1, 2})).run_one(), {2, 1, 1}, {2052, 0.5},
              0);
}

TEST(ReduceSum, Int64IsExact) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(to_int64s(NodeCase("ReduceSum", 13).data(i64({2}, {big, 2})).run_one()),
            std::vector<std::int64_t>{big + 2});
}

TEST(ReduceMean, IntegersTruncate) {
  expect_near(NodeCase("ReduceMean", 13)
                  .data(tensor_of(DType::I32, {2, 2}, {-3, -4, 3, 4}))
                  .ints("axes", {1})
                  .run_one(),
              {2, 1}, {-3, 3}, 0);
}

TEST(Reduce, NoAxesAtAllReducesEachElementAlone) {
  const auto alone = [](const char* op) {
    return NodeCase(op, 18).data(f32({2}, {-3, 2})).attr("noop_with_empty_axes", 1).run_one();
  };
  expect_near(alone("ReduceSum"), {2}, {-3, 2});
  expect_near(alone("ReduceSumSquare"), {2}, {9, 4});
  expect_near(alone("ReduceL1"), {2}, {3, 2});
}

TEST(Reduce, OfNothing) {
  const auto nothing = [](const char* op, DType dtype) {
    return to_doubles(NodeCase(op, 20).data(tensor_of(dtype, {0, 2}, {})).constant(i64({1}, {0})).run_one());
  };
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(nothing("ReduceSum", DType::F32), (std::vector<double>{0, 0}));
  EXPECT_EQ(nothing("ReduceProd", DType::F32), (std::vector<double>{1, 1}));
  EXPECT_EQ(nothing("ReduceMax", DType::F32), (std::vector<double>{-inf, -inf}));
  EXPECT_EQ(nothing("ReduceMin", DType::I32), (std::vector<double>{2147483647, 2147483647}));
  EXPECT_EQ(nothing("ReduceMax", DType::I8), (std::vector<double>{-128, -128}));
  EXPECT_EQ(nothing("ReduceLogSum", DType::F32), (std::vector<double>{-inf, -inf}));
  EXPECT_EQ(nothing("ReduceLogSumExp", DType::F32), (std::vector<double>{-inf, -inf}));
  EXPECT_TRUE(std::isnan(nothing("ReduceMean", DType::F32).at(0)));
}

TEST(ReduceLogSumExp, DoesNotOverflow) {
  expect_near(NodeCase("ReduceLogSumExp", 13).data(f32({2}, {1000, 1000})).run_one(), {1},
              {1000 + std::log(2.0)}, 1e-3);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_doubles(NodeCase("ReduceLogSumExp", 13).data(f32({3}, {-inf, inf, 1})).run_one()).at(0), inf);
  EXPECT_EQ(to_doubles(NodeCase("ReduceLogSumExp", 13).data(f32({2}, {-inf, -inf})).run_one()).at(0), -inf);
}

TEST(ReduceMax, NanPropagates) {
  EXPECT_TRUE(
      std::isnan(to_doubles(NodeCase("ReduceMax", 13).data(f32({3}, {1, std::nan(""), 2})).run_one()).at(0)));
}

TEST(ArgMax, TiesAndAxes) {
  const auto x = f32({2, 3}, {2, 5, 5, 7, 7, 1});
  const auto arg = [&](const char* op, int axis, int last) {
    return to_int64s(NodeCase(op, 13)
                         .data(x)
                         .attr("axis", axis)
                         .attr("select_last_index", last)
                         .attr("keepdims", 0)
                         .run_one());
  };
  EXPECT_EQ(arg("ArgMax", 1, 0), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(arg("ArgMax", 1, 1), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(arg("ArgMax", 0, 0), (std::vector<std::int64_t>{1, 1, 0}));
  EXPECT_EQ(arg("ArgMin", -1, 0), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(NodeCase("ArgMax", 1).typed(DType::F32, Dims{4, 3}).inferred(), "i64[1,3]");
  EXPECT_THAT(NodeCase("ArgMax", 11).data(x).attr("select_last_index", 1).inferred(),
              HasSubstr("attribute select_last_index does not exist in opset 11"));
  EXPECT_THAT(NodeCase("ArgMax", 13).typed(DType::F32, Dims{0, 3}).inferred(),
              HasSubstr("is empty along axis 0"));
}

}  // namespace
}  // namespace atc::ops
