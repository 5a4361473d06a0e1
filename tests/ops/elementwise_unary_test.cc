#include <cmath>
#include <limits>

#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct UnaryCase {
  const char* op;
  int version;
  std::vector<double> x;
  std::vector<double> y;
};

class Unary : public testing::TestWithParam<UnaryCase> {};

TEST_P(Unary, MatchesKnownValues) {
  const UnaryCase& p = GetParam();
  NodeCase c(p.op, p.version);
  const auto n = static_cast<std::int64_t>(p.x.size());
  c.data(tensor_of(DType::F64, {n}, p.x));
  expect_near(c.run_one(), {n}, p.y, 1e-9);
  EXPECT_THAT(NodeCase(p.op, p.version).typed(DType::String, Dims{1}).inferred(), HasSubstr("found string"));
}

INSTANTIATE_TEST_SUITE_P(
    Functions, Unary,
    testing::Values(
        UnaryCase{"Abs", 13, {-1.5, 2}, {1.5, 2}}, UnaryCase{"Neg", 13, {-1.5, 2}, {1.5, -2}},
        UnaryCase{"Sign", 13, {-3, 0, 0.1}, {-1, 0, 1}}, UnaryCase{"Relu", 14, {-3, 0, 2}, {0, 0, 2}},
        UnaryCase{"Exp", 13, {0, 1}, {1, 2.718281828459045}},
        UnaryCase{"Log", 13, {1, 10}, {0, 2.302585092994046}},
        UnaryCase{"Sqrt", 13, {4, 2}, {2, 1.4142135623730951}},
        UnaryCase{"Reciprocal", 13, {4, -0.5}, {0.25, -2}}, UnaryCase{"Floor", 13, {1.5, -1.5}, {1, -2}},
        UnaryCase{"Ceil", 13, {1.5, -1.5}, {2, -1}},
        UnaryCase{"Round", 11, {0.5, 1.5, 2.5, -1.5, 0.6}, {0, 2, 2, -2, 1}},
        UnaryCase{"Sigmoid", 13, {0, -800, 800, 1}, {0.5, 0, 1, 0.7310585786300049}},
        UnaryCase{"Tanh", 13, {0, 1}, {0, 0.7615941559557649}},
        UnaryCase{"Erf", 13, {0, 1}, {0, 0.8427007929497149}},
        UnaryCase{"Softplus", 1, {0, 1000, -1000}, {0.6931471805599453, 1000, 0}},
        UnaryCase{"Softsign", 1, {1, -3}, {0.5, -0.75}},
        UnaryCase{"Mish", 18, {0, 1}, {0, 0.8650983882673103}},
        UnaryCase{"Sin", 7, {0.5}, {0.479425538604203}}, UnaryCase{"Cos", 7, {0.5}, {0.8775825618903728}},
        UnaryCase{"Tan", 7, {0.5}, {0.5463024898437905}}, UnaryCase{"Asin", 7, {0.5}, {0.5235987755982989}},
        UnaryCase{"Acos", 7, {0.5}, {1.0471975511965979}}, UnaryCase{"Atan", 7, {0.5}, {0.4636476090008061}},
        UnaryCase{"Sinh", 9, {0.5}, {0.5210953054937474}}, UnaryCase{"Cosh", 9, {0.5}, {1.1276259652063807}},
        UnaryCase{"Asinh", 9, {0.5}, {0.48121182505960347}},
        UnaryCase{"Acosh", 9, {1.5}, {0.9624236501192069}},
        UnaryCase{"Atanh", 9, {0.5}, {0.5493061443340549}},
        UnaryCase{"HardSwish", 14, {-4, 0, 1, 4}, {0, 0, 0.6666666666666666, 4}}),
    [](const auto& test) { return test.param.op; });

TEST(Abs, IntegersAreExact) {
  NodeCase c("Abs", 13);
  c.data(i64({3}, {-9007199254740993, 5, INT64_MIN}));
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(9007199254740993, 5, INT64_MIN));
}

TEST(Relu, KeepsNaN) {
  NodeCase c("Relu", 14);
  c.data(f32({1}, {kNaN}));
  EXPECT_TRUE(std::isnan(to_doubles(c.run_one())[0]));
}

TEST(BitwiseNot, Integers) {
  NodeCase c("BitwiseNot", 18);
  c.data(tensor_of(DType::U8, {2}, {0, 200}));
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(255, 55));
}

TEST(IsInf, SignsAreChosen) {
  const Tensor x = f32({4}, {kInf, -kInf, kNaN, 1});
  auto run = [&](int negative, int positive) {
    NodeCase c("IsInf", 10);
    c.data(x).attr("detect_negative", negative).attr("detect_positive", positive);
    return to_int64s(c.run_one());
  };
  EXPECT_THAT(run(1, 1), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(run(0, 1), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(run(1, 0), ElementsAre(0, 1, 0, 0));
  NodeCase nan("IsNaN", 13);
  nan.data(x);
  EXPECT_THAT(to_int64s(nan.run_one()), ElementsAre(0, 0, 1, 0));
}

TEST(Identity, AnyTypeAndShapeValues) {
  Tensor text;
  text.dtype = DType::String;
  text.shape = {1};
  text.strings = {"a"};
  NodeCase c("Identity", 13);
  c.data(text);
  EXPECT_THAT(c.run_one().strings, ElementsAre("a"));
  EXPECT_EQ(NodeCase("Identity", 13).shape_value({literal(-1), ir::Dim::named("n")}).inferred_elements(),
            "-1,n");
}

// Activations with parameters -----------------------------------------------------------------------

using Attrs = std::vector<std::pair<std::string, ir::Attribute>>;

Tensor activate(const char* op, int version, const Attrs& attrs, const std::vector<double>& x) {
  NodeCase c(op, version);
  for (const auto& [name, value] : attrs) c.attr(name, value);
  const auto n = static_cast<std::int64_t>(x.size());
  c.data(tensor_of(DType::F64, {n}, x));
  return c.run_one();
}

TEST(Activation, DefaultsAndParameters) {
  expect_near(activate("LeakyRelu", 6, {}, {-1, 2}), {2}, {-0.01, 2}, 1e-8);
  expect_near(activate("LeakyRelu", 6, {{"alpha", 0.5F}}, {-1, 2}), {2}, {-0.5, 2}, 1e-8);
  expect_near(activate("Elu", 6, {}, {-1, 2}), {2}, {-0.6321205588285577, 2}, 1e-8);
  expect_near(activate("Selu", 6, {}, {-1, 2}), {2}, {-1.1113307378125625, 2.10140204429626}, 1e-6);
  expect_near(activate("Selu", 1, {}, {1}), {1}, {1.0507}, 1e-6);
  expect_near(activate("Celu", 12, {{"alpha", 2.0F}}, {-1, 2}), {2}, {-0.7869386805747332, 2}, 1e-8);
  expect_near(activate("ThresholdedRelu", 10, {}, {1, 1.5}), {2}, {0, 1.5}, 1e-8);
  expect_near(activate("HardSigmoid", 6, {}, {-3, 0, 1, 3}), {4}, {0, 0.5, 0.7, 1}, 1e-7);
  expect_near(activate("Swish", 24, {{"alpha", 2.0F}}, {1}), {1}, {0.8807970779778823}, 1e-8);
  expect_near(activate("Shrink", 9, {{"lambd", 1.5F}, {"bias", 1.5F}}, {-2, -1, 1, 2}), {4},
              {-0.5, 0, 0, 0.5}, 1e-8);
  expect_near(activate("Gelu", 20, {}, {-1, 0, 1, -30}), {4},
              {-0.15865525393145707, 0, 0.8413447460685429, 0}, 1e-9);
  expect_near(activate("Gelu", 20, {{"approximate", std::string("tanh")}}, {1}), {1}, {0.8411919906082768},
              1e-8);
}

TEST(Activation, Refusals) {
  EXPECT_THAT(NodeCase("Gelu", 20).typed(DType::F32, Dims{1}).attr("approximate", "fast").inferred(),
              HasSubstr("approximate must be none or tanh, found 'fast'"));
  EXPECT_THAT(NodeCase("Celu", 12).typed(DType::F32, Dims{1}).attr("alpha", 0.0F).inferred(),
              HasSubstr("alpha must not be 0"));
  EXPECT_THAT(NodeCase("Elu", 6).typed(DType::I32, Dims{1}).inferred(), HasSubstr("must be of a float type"));
  EXPECT_THAT(NodeCase("LeakyRelu", 6).typed(DType::F32, Dims{1}).attr("alpha", 1).inferred(),
              HasSubstr("attribute alpha must be a float, found an integer"));
}

TEST(SwiGLU, GatesTheSecondInput) {
  NodeCase c("SwiGLU", 28);
  c.data(f32({2}, {1, -1})).data(f32({1}, {2}));
  expect_near(c.run_one(), {2}, {1.4621171572600098, -0.5378828427399902}, 1e-6);
  EXPECT_THAT(NodeCase("SwiGLU", 28).typed(DType::F32, Dims{2}).typed(DType::F32, Dims{3}).inferred(),
              HasSubstr("does not broadcast"));
}

TEST(Clip, BoundsAsAttributesAndInputs) {
  NodeCase old("Clip", 6);
  old.data(f32({3}, {-5, 0, 5})).attr("min", -1.0F).attr("max", 2.0F);
  expect_near(old.run_one(), {3}, {-1, 0, 2});
  NodeCase c("Clip", 13);
  c.data(i64({3}, {-5, 0, 5})).absent().data(i64({}, {3}));
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(-5, 0, 3));
  NodeCase crossed("Clip", 13);
  crossed.data(f32({2}, {0, 9})).data(f32({}, {4})).data(f32({}, {2}));
  expect_near(crossed.run_one(), {2}, {2, 2});
  EXPECT_THAT(NodeCase("Clip", 13).typed(DType::F32, Dims{2}).typed(DType::F32, Dims{2}).inferred(),
              HasSubstr("must be a scalar, found shape [2]"));
  EXPECT_THAT(NodeCase("Clip", 13).typed(DType::F32, Dims{2}).attr("min", 0.0F).inferred(),
              HasSubstr("attribute min does not exist in opset 13"));
}

TEST(Dropout, IsTheIdentityAtInference) {
  NodeCase c("Dropout", 13, 2);
  c.data(f32({2}, {1, 2}));
  EXPECT_EQ(c.inferred(1), "bool[2]");
  const auto out = c.run();
  expect_near(out.at(0), {2}, {1, 2});
  EXPECT_THAT(to_int64s(out.at(1)), ElementsAre(1, 1));
  NodeCase old("Dropout", 7, 2);
  old.data(f32({1}, {1})).attr("ratio", 0.3F);
  EXPECT_EQ(old.inferred(1), "f32[1]");
}

}  // namespace
}  // namespace atc::ops
