#include "driver/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace atc::driver {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor floats(std::vector<double> values, DType dtype = DType::F32) {
  const Dims shape = {static_cast<std::int64_t>(values.size())};
  return from_doubles(dtype, shape, values);
}
Tensor ints(std::vector<std::int64_t> values, DType dtype = DType::I64) {
  const Dims shape = {static_cast<std::int64_t>(values.size())};
  return from_int64s(dtype, shape, values);
}

CompareRule cosine_rule() {
  CompareRule rule;
  rule.kind = CompareRule::Kind::Cosine;
  return rule;
}

TEST(CompareElementwise, AbsoluteAndRelativeToleranceAdd) {
  // 1e-4 + 1e-3 * 10 = 0.0101
  EXPECT_TRUE(compare(floats({10}), floats({10.0100}), {}).pass);
  EXPECT_FALSE(compare(floats({10}), floats({10.0102}), {}).pass);
  EXPECT_TRUE(compare(floats({0}), floats({0.00009}), {}).pass);
  EXPECT_FALSE(compare(floats({0}), floats({0.00011}), {}).pass);
  EXPECT_FALSE(compare(floats({-10}), floats({10}), {}).pass);
  CompareRule strict;
  strict.rtol = 1e-5;
  strict.atol = 0;
  EXPECT_FALSE(compare(floats({10}), floats({10.001}), strict).pass);
}

TEST(CompareElementwise, ReportsWorstErrorsAndTheFirstFault) {
  const Comparison c = compare(from_doubles(DType::F32, {2, 2}, std::vector<double>{1, 2, 4, 0}),
                               from_doubles(DType::F32, {2, 2}, std::vector<double>{1, 3, 8, 0.25}), {});
  EXPECT_FALSE(c.pass);
  EXPECT_DOUBLE_EQ(c.max_abs, 4);
  EXPECT_DOUBLE_EQ(c.max_rel, 1);
  EXPECT_NE(c.reason.find("[0,1] is 3, expected 2"), std::string::npos) << c.reason;
}

TEST(CompareElementwise, NanAndInfMustMatchInPlace) {
  EXPECT_TRUE(compare(floats({kNan, kInf, -kInf}), floats({kNan, kInf, -kInf}), {}).pass);
  EXPECT_FALSE(compare(floats({kNan}), floats({0}), {}).pass);
  EXPECT_FALSE(compare(floats({0}), floats({kNan}), {}).pass);
  EXPECT_FALSE(compare(floats({kInf}), floats({-kInf}), {}).pass);
  EXPECT_FALSE(compare(floats({kInf}), floats({3e38}), {}).pass);
  EXPECT_FALSE(compare(floats({3e38}), floats({kInf}), {}).pass);
  EXPECT_EQ(compare(floats({1}), floats({kNan}), {}).max_abs, kInf);
}

TEST(CompareElementwise, IntegersAndBooleansAreExact) {
  EXPECT_TRUE(compare(ints({1, -5}), ints({1, -5}), {}).pass);
  EXPECT_FALSE(compare(ints({1000000}), ints({1000001}), {}).pass);
  // Beyond what a double tells apart.
  EXPECT_FALSE(compare(ints({9007199254740993}), ints({9007199254740992}), {}).pass);
  EXPECT_FALSE(compare(ints({1, 0}, DType::Bool), ints({1, 1}, DType::Bool), {}).pass);
}

TEST(CompareElementwise, OtherTypes) {
  Tensor a;
  a.dtype = DType::String;
  a.shape = {2};
  a.strings = {"x", "y"};
  Tensor b = a;
  EXPECT_TRUE(compare(a, b, {}).pass);
  b.strings[1] = "z";
  EXPECT_FALSE(compare(a, b, {}).pass);

  MutableTensor one(DType::C64, {1}), other(DType::C64, {1});
  reinterpret_cast<float*>(one.bytes().data())[1] = 1;
  reinterpret_cast<float*>(other.bytes().data())[1] = 2;
  const Tensor c = std::move(one).freeze(), d = std::move(other).freeze();
  EXPECT_TRUE(compare(c, c, {}).pass);
  EXPECT_FALSE(compare(c, d, {}).pass);
}

TEST(Compare, TypeAndShapeMustAgree) {
  const Comparison shape =
      compare(floats({1, 2}), from_doubles(DType::F32, {2, 1}, std::vector<double>{1, 2}), {});
  EXPECT_FALSE(shape.pass);
  EXPECT_NE(shape.reason.find("FLOAT[2,1], expected FLOAT[2]"), std::string::npos) << shape.reason;
  EXPECT_FALSE(compare(floats({1}), floats({1}, DType::F16), {}).pass);
  CompareRule rule;
  rule.any_float_dtype = true;
  EXPECT_TRUE(compare(floats({1}), floats({1}, DType::F16), rule).pass);
  EXPECT_FALSE(compare(floats({1}), ints({1}), rule).pass);
}

TEST(Compare, EmptyTensorsAreEqual) {
  EXPECT_TRUE(compare(floats({}), floats({}), {}).pass);
  EXPECT_TRUE(compare(floats({}), floats({}), cosine_rule()).pass);
  EXPECT_TRUE(compare(ints({}), ints({}), cosine_rule()).pass);
}

TEST(CompareCosine, LooksAtTheDirection) {
  EXPECT_TRUE(compare(floats({1, 2, 3}), floats({1.01, 2.01, 2.99}), cosine_rule()).pass);
  const Comparison bad = compare(floats({1, 0}), floats({1, 0.1}), cosine_rule());  // cosine 0.995
  EXPECT_FALSE(bad.pass);
  EXPECT_NEAR(bad.cosine, 0.99504, 1e-5);
  EXPECT_NE(bad.reason.find("0.995"), std::string::npos) << bad.reason;
  EXPECT_FALSE(compare(floats({1, 2}), floats({0, 0}), cosine_rule()).pass);
  EXPECT_FALSE(compare(floats({1, 2}), floats({kNan, 2}), cosine_rule()).pass);
  // No overflow at either end of the range.
  EXPECT_TRUE(
      compare(floats({1e300, 1e300}, DType::F64), floats({1e300, 1e300}, DType::F64), cosine_rule()).pass);
  EXPECT_TRUE(compare(floats({1e-300, 0}, DType::F64), floats({1e-300, 0}, DType::F64), cosine_rule()).pass);
}

TEST(CompareCosine, AnAllZeroExpectationByAbsoluteTolerance) {
  EXPECT_TRUE(compare(floats({0, 0}), floats({0.00009, 0}), cosine_rule()).pass);
  EXPECT_FALSE(compare(floats({0, 0}), floats({0.001, 0}), cosine_rule()).pass);
}

TEST(CompareCosine, OnePercentOfIntegersMayDiffer) {
  std::vector<std::int64_t> want(200, 7), got = want;
  got[3] = 8;
  got[9] = 8;
  EXPECT_TRUE(compare(ints(want), ints(got), cosine_rule()).pass);
  got[11] = 8;
  EXPECT_FALSE(compare(ints(want), ints(got), cosine_rule()).pass);
}

CompareRule steps_rule(double steps, double step) {
  CompareRule rule;
  rule.kind = CompareRule::Kind::Steps;
  rule.steps = steps;
  rule.step = step;
  return rule;
}

TEST(CompareSteps, AllButOneElementInAThousandLieWithin) {
  std::vector<double> want(2000, 1.0), got(2000, 1.24);
  EXPECT_TRUE(compare(floats(want), floats(got), steps_rule(1, 0.25)).pass);
  EXPECT_FALSE(compare(floats(want), floats(got), steps_rule(0.5, 0.25)).pass);
  got[7] = got[8] = 9;
  const Comparison two = compare(floats(want), floats(got), steps_rule(1, 0.25));
  EXPECT_TRUE(two.pass) << two.reason;
  EXPECT_DOUBLE_EQ(two.beyond, 0.001);
  EXPECT_DOUBLE_EQ(two.max_abs, 8);
  got[9] = 9;
  const Comparison three = compare(floats(want), floats(got), steps_rule(1, 0.25));
  EXPECT_FALSE(three.pass);
  EXPECT_NE(three.reason.find("[7] is 9, expected 1 within 1 quantization steps of 0.25 (3 of 2000"),
            std::string::npos)
      << three.reason;
  got[9] = kNan;
  EXPECT_FALSE(compare(floats(want), floats(got), steps_rule(1, 0.25)).pass);
}

TEST(CompareSteps, BytesMayBeStepsOffAndWiderIntegersNot) {
  EXPECT_TRUE(compare(ints({3, 4}, DType::U8), ints({4, 3}, DType::U8), steps_rule(1, 1)).pass);
  EXPECT_FALSE(compare(ints({3, 4}, DType::U8), ints({5, 4}, DType::U8), steps_rule(1, 1)).pass);
  EXPECT_TRUE(compare(ints({-3}, DType::I8), ints({-1}, DType::I8), steps_rule(2, 1)).pass);
  EXPECT_FALSE(compare(ints({3}), ints({4}), steps_rule(1, 1)).pass);
  EXPECT_FALSE(compare(ints({0}, DType::Bool), ints({1}, DType::Bool), steps_rule(1, 1)).pass);
}

}  // namespace
}  // namespace atc::driver
