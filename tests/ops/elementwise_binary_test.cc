#include <cmath>
#include <limits>

#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Add, InfersBroadcast) {
  EXPECT_EQ(NodeCase("Add", 13).typed(DType::F32, Dims{2, 1, 4}).typed(DType::F32, Dims{3, 1}).inferred(),
            "f32[2,3,4]");
  EXPECT_EQ(NodeCase("Add", 13)
                .typed(DType::F16, ir::Shape{ir::Dim::named("n"), ir::Dim::of(4)})
                .typed(DType::F16, Dims{4})
                .inferred(),
            "f16[n,4]");
  EXPECT_EQ(NodeCase("Add", 13).typed(DType::F32, std::nullopt).typed(DType::F32, Dims{4}).inferred(),
            "f32[*]");
}

TEST(Add, Refusals) {
  EXPECT_THAT(NodeCase("Add", 13).typed(DType::F32, Dims{2}).typed(DType::F32, Dims{3}).inferred(),
              HasSubstr("shapes [2] and [3] do not broadcast"));
  EXPECT_THAT(NodeCase("Add", 13).typed(DType::F32, Dims{2}).typed(DType::I32, Dims{2}).inferred(),
              HasSubstr("i32"));
  EXPECT_THAT(NodeCase("Add", 13).typed(DType::Bool, Dims{2}).typed(DType::Bool, Dims{2}).inferred(),
              HasSubstr("must be of a numeric type, found bool"));
  EXPECT_THAT(NodeCase("Add", 13).typed(DType::F32, Dims{2}).inferred(),
              HasSubstr("has 1 inputs, expected 2"));
  EXPECT_THAT(
      NodeCase("Add", 7).typed(DType::F32, Dims{2}).typed(DType::F32, Dims{2}).attr("axis", 1).inferred(),
      HasSubstr("attribute axis does not exist in opset 7"));
}

TEST(Add, LegacyAxisPlacesTheSecondInput) {
  NodeCase c("Add", 6);
  c.data(f32({2, 3, 2}, {0, 0, 0, 0, 0, 0, 10, 10, 10, 10, 10, 10})).data(f32({3}, {1, 2, 3}));
  c.attr("broadcast", 1).attr("axis", 1);
  expect_near(c.run_one(), {2, 3, 2}, {1, 1, 2, 2, 3, 3, 11, 11, 12, 12, 13, 13});
}

TEST(Add, LegacyAxisOutsideIsRefused) {
  EXPECT_THAT(NodeCase("Add", 6)
                  .typed(DType::F32, Dims{2, 3})
                  .typed(DType::F32, Dims{3})
                  .attr("broadcast", 1)
                  .attr("axis", 2)
                  .inferred(),
              HasSubstr("axis 2 does not place shape [3]"));
}

TEST(Add, NarrowIntegersWrap) {
  NodeCase c("Add", 14);
  c.data(tensor_of(DType::U8, {2}, {250, 3})).data(tensor_of(DType::U8, {2}, {10, 4}));
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(4, 7));
  NodeCase d("Mul", 14);
  d.data(i64({1}, {INT64_MAX})).data(i64({1}, {2}));
  EXPECT_THAT(to_int64s(d.run_one()), ElementsAre(-2));
}

TEST(Add, HalfRoundsOnce) {
  NodeCase c("Add", 14);
  c.data(tensor_of(DType::F16, {1}, {2048})).data(tensor_of(DType::F16, {1}, {1}));
  EXPECT_EQ(to_doubles(c.run_one())[0], 2048);  // a tie, to even
}

TEST(Div, IntegersTruncateAndNeverTrap) {
  NodeCase c("Div", 14);
  c.data(i64({5}, {7, -7, 1, INT64_MIN, 6})).data(i64({5}, {2, 2, 0, -1, -4}));
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(3, -3, 0, INT64_MIN, -1));
}

TEST(Arithmetic, EvaluatesShapeValues) {
  const ir::Shape dims = {literal(6), ir::Dim::named("n"), literal(-1)};
  EXPECT_EQ(NodeCase("Add", 13).shape_value(dims).constant(i64({}, {0})).inferred_elements(), "6,n,-1");
  EXPECT_EQ(NodeCase("Add", 13).shape_value(dims).constant(i64({3}, {1, 1, 1})).inferred_elements(),
            "7,?0,0");
  EXPECT_EQ(NodeCase("Sub", 13).shape_value(dims).shape_value(dims).inferred_elements(), "0,0,0");
  EXPECT_EQ(NodeCase("Mul", 13).shape_value(dims).constant(i64({1}, {0})).inferred_elements(), "0,0,0");
  EXPECT_EQ(NodeCase("Mul", 13).constant(i64({1}, {1})).shape_value(dims).inferred_elements(), "6,n,-1");
  EXPECT_EQ(NodeCase("Div", 13).shape_value(dims).constant(i64({3}, {4, 1, 2})).inferred_elements(), "1,n,0");
  EXPECT_EQ(NodeCase("Max", 13).shape_value(dims).constant(i64({3}, {9, 2, 0})).inferred_elements(),
            "9,?0,0");
  EXPECT_EQ(NodeCase("Min", 13).shape_value(dims).shape_value(dims).inferred_elements(), "6,n,-1");
}

TEST(Pow, TypesMix) {
  NodeCase c("Pow", 13);
  c.data(f32({3}, {1, 2, 3})).data(i64({3}, {4, 5, 6}));
  expect_near(c.run_one(), {3}, {1, 32, 729});
  NodeCase integers("Pow", 13);
  integers.data(i64({5}, {3, -1, 2, 0, 7})).data(i64({5}, {40, -3, -2, 0, 1}));
  EXPECT_THAT(to_int64s(integers.run_one()), ElementsAre(-6289078614652622815, -1, 0, 1, 7));
  EXPECT_THAT(NodeCase("Pow", 7).typed(DType::F32, Dims{2}).typed(DType::I64, Dims{2}).inferred(),
              HasSubstr("input 1"));
}

TEST(Mod, SignFollowsDivisorOrDividend) {
  const std::vector<double> a = {-4, 7, 5, 4, -7, 8};
  const std::vector<double> b = {2, -3, 8, -2, 3, 5};
  NodeCase python("Mod", 13);
  python.data(tensor_of(DType::I32, {6}, a)).data(tensor_of(DType::I32, {6}, b));
  EXPECT_THAT(to_int64s(python.run_one()), ElementsAre(0, -2, 5, 0, 2, 3));
  NodeCase c("Mod", 13);
  c.data(tensor_of(DType::I32, {6}, a)).data(tensor_of(DType::I32, {6}, b)).attr("fmod", 1);
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(0, 1, 5, 0, -1, 3));
  EXPECT_THAT(NodeCase("Mod", 13).typed(DType::F32, Dims{2}).typed(DType::F32, Dims{2}).inferred(),
              HasSubstr("attribute fmod must be 1"));
}

TEST(PRelu, SlopeIsUnidirectional) {
  NodeCase c("PRelu", 16);
  c.data(f32({1, 2, 2}, {-1, 2, -3, 4})).data(f32({2, 1}, {0.5, 2}));
  expect_near(c.run_one(), {1, 2, 2}, {-0.5, 2, -6, 4});
  EXPECT_THAT(NodeCase("PRelu", 16).typed(DType::F32, Dims{1, 2}).typed(DType::F32, Dims{3, 2}).inferred(),
              HasSubstr("does not broadcast to the shape [1,2]"));
}

TEST(PRelu, LegacySlopeRunsAlongChannels) {
  NodeCase c("PRelu", 6);
  c.data(f32({1, 2, 1, 2}, {-1, -1, -1, -1})).data(f32({2}, {0.5, 2}));
  expect_near(c.run_one(), {1, 2, 1, 2}, {-0.5, -0.5, -2, -2});
}

TEST(BitShift, ByTheWidthOrMoreIsZero) {
  NodeCase c("BitShift", 11);
  c.data(tensor_of(DType::U8, {3}, {1, 0x81, 255}))
      .data(tensor_of(DType::U8, {3}, {7, 1, 200}))
      .attr("direction", "LEFT");
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(128, 2, 0));
  NodeCase right("BitShift", 11);
  right.data(tensor_of(DType::U8, {2}, {0x81, 255}))
      .data(tensor_of(DType::U8, {2}, {1, 7}))
      .attr("direction", "RIGHT");
  EXPECT_THAT(to_int64s(right.run_one()), ElementsAre(64, 1));
  EXPECT_THAT(NodeCase("BitShift", 11)
                  .typed(DType::U8, Dims{1})
                  .typed(DType::U8, Dims{1})
                  .attr("direction", "UP")
                  .inferred(),
              HasSubstr("direction must be LEFT or RIGHT, found 'UP'"));
}

TEST(Bitwise, OnNegativeIntegers) {
  auto run = [](const char* op) {
    NodeCase c(op, 18);
    c.data(i64({2}, {-2, 12})).data(i64({2}, {7, 10}));
    return to_int64s(c.run_one());
  };
  EXPECT_THAT(run("BitwiseAnd"), ElementsAre(6, 8));
  EXPECT_THAT(run("BitwiseOr"), ElementsAre(-1, 14));
  EXPECT_THAT(run("BitwiseXor"), ElementsAre(-7, 6));
}

TEST(Extremum, PropagatesNaNFromEitherSide) {
  for (const char* op : {"Max", "Min"}) {
    NodeCase c(op, 13);
    c.data(f32({3}, {kNaN, 1, 2})).data(f32({3}, {1, kNaN, 2}));
    const std::vector<double> y = to_doubles(c.run_one());
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << op;
    EXPECT_EQ(y[2], 2);
  }
}

TEST(Extremum, VariadicBroadcast) {
  NodeCase c("Max", 13);
  c.data(f32({2, 1}, {1, 5})).data(f32({3}, {0, 3, 9})).data(f32({}, {2}));
  expect_near(c.run_one(), {2, 3}, {2, 3, 9, 5, 5, 9});
  EXPECT_THAT(NodeCase("Max", 13).typed(DType::F32, Dims{2}).typed(DType::F32, Dims{3}).inferred(),
              HasSubstr("does not broadcast with [2]"));
}

TEST(Mean, AveragesInDoubleAndRoundsOnce) {
  NodeCase c("Mean", 13);
  c.data(f32({1}, {1e8})).data(f32({1}, {1})).data(f32({1}, {-1e8}));
  EXPECT_NEAR(to_doubles(c.run_one())[0], 1.0 / 3, 1e-7);
  NodeCase one("Sum", 13);
  one.data(f32({2}, {1, 2}));
  expect_near(one.run_one(), {2}, {1, 2});
}

}  // namespace
}  // namespace atc::ops
