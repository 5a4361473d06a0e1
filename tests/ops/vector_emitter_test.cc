#include "ops/vector_emitter.h"

#include <limits>

#include "ops/node_case.h"
#include "ops/vector_interpreter.h"

namespace atc::ops {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Emits the node's vector program and runs it on every element; the reference on the same tensors must
/// agree. Inputs are all of one shape.
void expect_program_matches(NodeCase& c, const std::vector<Tensor>& inputs, double tolerance = 1e-6) {
  for (const Tensor& t : inputs) c.data(t);
  const Tensor expected = c.run_one();
  ir::Node& node = c.node();
  for (std::size_t i = 0; i < node.outputs().size(); ++i) node.output(i)->type = *c.types[i];
  const OpDef& def = *Registry::instance().find(node);
  ASSERT_NE(def.vector, nullptr) << node.op_type;
  ASSERT_TRUE(def.vector_accepts == nullptr || def.vector_accepts(node)) << node.op_type;

  kernels::VectorProgram program;
  std::vector<int> registers;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    registers.push_back(program.load(static_cast<int>(i), *kernels::reg_type_of(inputs[i].dtype)));
  VectorEmitter emitter(node, program, registers);
  const Status status = def.vector(emitter);
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_GE(emitter.output(0), 0);
  EXPECT_EQ(emitter.type(emitter.output(0)), kernels::reg_type_of(expected.dtype)) << node.op_type;

  const std::vector<double> y = to_doubles(expected);
  for (std::size_t k = 0; k < y.size(); ++k) {
    std::vector<double> x;
    for (const Tensor& t : inputs) x.push_back(to_doubles(t)[k]);
    const double got = interpret(program, x)[static_cast<std::size_t>(emitter.output(0))];
    if (std::isnan(y[k])) {
      EXPECT_TRUE(std::isnan(got)) << node.op_type << " of " << x[0];
    } else if (std::isinf(y[k])) {
      EXPECT_EQ(got, y[k]) << node.op_type << " of " << x[0];
    } else {
      EXPECT_NEAR(got, y[k], tolerance * (1 + std::fabs(y[k]))) << node.op_type << " of " << x[0];
    }
  }
}

using Attrs = std::vector<std::pair<const char*, ir::Attribute>>;

struct UnaryProgram {
  const char* op;
  int version;
  Attrs attrs;
};

class UnaryPrograms : public testing::TestWithParam<UnaryProgram> {};

TEST_P(UnaryPrograms, MatchReference) {
  NodeCase c(GetParam().op, GetParam().version);
  for (const auto& [name, value] : GetParam().attrs) c.attr(name, value);
  expect_program_matches(
      c, {f32({15}, {-kInf, -60, -3.5, -2.5, -1, -0.5, -1e-6, 0, 1e-6, 0.25, 0.5, 1, 2.5, 60, kNaN})});
}

INSTANTIATE_TEST_SUITE_P(Activations, UnaryPrograms,
                         testing::Values(UnaryProgram{"LeakyRelu", 16, {{"alpha", 0.3F}}},
                                         UnaryProgram{"Elu", 6, {{"alpha", 1.5F}}},
                                         UnaryProgram{"Selu", 6, {}},
                                         UnaryProgram{"Celu", 12, {{"alpha", 0.7F}}},
                                         UnaryProgram{"ThresholdedRelu", 10, {{"alpha", 0.4F}}},
                                         UnaryProgram{"HardSigmoid", 6, {{"alpha", 0.3F}}},
                                         UnaryProgram{"HardSwish", 14, {}},
                                         UnaryProgram{"Shrink", 9, {{"bias", 0.5F}, {"lambd", 0.6F}}},
                                         UnaryProgram{"Clip", 6, {{"min", -1.0F}, {"max", 2.0F}}}),
                         [](const auto& test) { return test.param.op; });

class FiniteUnaryPrograms : public testing::TestWithParam<UnaryProgram> {};

TEST_P(FiniteUnaryPrograms, MatchReference) {
  NodeCase c(GetParam().op, GetParam().version);
  for (const auto& [name, value] : GetParam().attrs) c.attr(name, value);
  expect_program_matches(c, {f32({13}, {-30, -3.5, -2.5, -1, -0.5, -1e-6, 0, 1e-6, 0.25, 0.5, 1, 2.5, 30})});
}

INSTANTIATE_TEST_SUITE_P(
    Functions, FiniteUnaryPrograms,
    testing::Values(UnaryProgram{"Swish", 24, {{"alpha", 1.7F}}}, UnaryProgram{"Gelu", 20, {}},
                    UnaryProgram{"Gelu", 20, {{"approximate", std::string("tanh")}}},
                    UnaryProgram{"Mish", 18, {}}, UnaryProgram{"Softsign", 1, {}},
                    UnaryProgram{"Softplus", 1, {}}, UnaryProgram{"Sigmoid", 13, {}},
                    UnaryProgram{"Tanh", 13, {}}, UnaryProgram{"Erf", 13, {}}, UnaryProgram{"Exp", 13, {}},
                    UnaryProgram{"Log", 13, {}}, UnaryProgram{"Sqrt", 13, {}},
                    UnaryProgram{"Reciprocal", 13, {}}, UnaryProgram{"Sin", 7, {}},
                    UnaryProgram{"Cos", 7, {}}, UnaryProgram{"Tan", 7, {}}, UnaryProgram{"Asin", 7, {}},
                    UnaryProgram{"Acos", 7, {}}, UnaryProgram{"Atan", 7, {}}, UnaryProgram{"Sinh", 9, {}},
                    UnaryProgram{"Cosh", 9, {}}, UnaryProgram{"Asinh", 9, {}}, UnaryProgram{"Acosh", 9, {}},
                    UnaryProgram{"Atanh", 9, {}}, UnaryProgram{"Floor", 13, {}}, UnaryProgram{"Ceil", 13, {}},
                    UnaryProgram{"Round", 11, {}}, UnaryProgram{"Abs", 13, {}}, UnaryProgram{"Neg", 13, {}},
                    UnaryProgram{"Sign", 13, {}}, UnaryProgram{"Relu", 14, {}},
                    UnaryProgram{"Identity", 13, {}}, UnaryProgram{"Dropout", 13, {}},
                    UnaryProgram{"Cast", 13, {{"to", std::int64_t{10}}}},
                    UnaryProgram{"Cast", 13, {{"to", std::int64_t{9}}}},
                    UnaryProgram{"Cast", 13, {{"to", std::int64_t{7}}}}),
    [](const auto& test) { return std::string(test.param.op) + std::to_string(test.index); });

TEST(VectorPrograms, TestsOfFloats) {
  const Tensor x = f32({4}, {kInf, -kInf, kNaN, 1});
  NodeCase nan("IsNaN", 13);
  expect_program_matches(nan, {x});
  for (const int positive : {0, 1})
    for (const int negative : {0, 1}) {
      NodeCase inf("IsInf", 10);
      inf.attr("detect_positive", positive).attr("detect_negative", negative);
      expect_program_matches(inf, {x});
    }
}

TEST(VectorPrograms, PairsOfFloats) {
  const Tensor a = f32({8}, {-7.5, -2, -0.5, 0, 0.5, 2, 3, 7.5});
  const Tensor b = f32({8}, {2, 3, 0.5, 1, -2, 2, -1.5, 2});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "PRelu", "Equal", "Less",
                         "Greater", "LessOrEqual", "GreaterOrEqual", "Pow"}) {
    NodeCase c(op, 16);
    expect_program_matches(c, {a, b});
  }
  NodeCase swiglu("SwiGLU", 28);
  swiglu.attr("alpha", 0.5F);
  expect_program_matches(swiglu, {a, b});
  NodeCase fmod("Mod", 13);
  fmod.attr("fmod", 1);
  expect_program_matches(fmod, {a, b});
}

TEST(VectorPrograms, PairsOfIntegers) {
  const Tensor a = tensor_of(DType::I32, {6}, {-7, 7, 6, -6, 0, 5});
  const Tensor b = tensor_of(DType::I32, {6}, {2, -2, 3, 4, 5, 1});
  for (const char* op :
       {"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    NodeCase c(op, 18);
    expect_program_matches(c, {a, b});
  }
  for (const char* direction : {"LEFT", "RIGHT"}) {
    NodeCase shift("BitShift", 11);
    shift.attr("direction", direction);
    expect_program_matches(shift,
                           {tensor_of(DType::U16, {3}, {1, 5, 800}), tensor_of(DType::U16, {3}, {3, 1, 2})});
  }
  NodeCase negate("BitwiseNot", 18);
  expect_program_matches(negate, {a});
  NodeCase power("Pow", 15);
  expect_program_matches(power, {f32({3}, {2, 3, 4}), i64({3}, {3, 2, -1})});
}

TEST(VectorPrograms, LogicAndSelection) {
  const Tensor a = tensor_of(DType::Bool, {4}, {0, 0, 1, 1});
  const Tensor b = tensor_of(DType::Bool, {4}, {0, 1, 0, 1});
  for (const char* op : {"And", "Or", "Xor"}) {
    NodeCase c(op, 7);
    expect_program_matches(c, {a, b});
  }
  NodeCase negate("Not", 1);
  expect_program_matches(negate, {a});
  NodeCase where("Where", 16);
  expect_program_matches(where, {a, f32({4}, {1, 2, 3, 4}), f32({4}, {5, 6, 7, 8})});
  NodeCase clip("Clip", 13);
  const Tensor low = f32({1}, {-1});
  expect_program_matches(clip, {f32({1}, {-2}), low, f32({1}, {3})});
}

TEST(VectorPrograms, WideTypesAreLeftToTheReference) {
  for (DType t : {DType::F64, DType::U64}) {
    NodeCase c("Add", 14);
    c.typed(t, Dims{2}).typed(t, Dims{2});
    ASSERT_TRUE(c.infer().ok());
    c.node().output(0)->type = *c.types[0];
    EXPECT_FALSE(Registry::instance().find(c.node())->vector_accepts(c.node())) << name(t);
  }
}

TEST(VectorPrograms, LegacyAxisIsLeftToTheReference) {
  auto accepts = [](int axis) {
    NodeCase c("Add", 6);
    c.typed(DType::F32, Dims{2, 3, 4}).typed(DType::F32, Dims{3}).attr("broadcast", 1).attr("axis", axis);
    c.node().output(0)->type = c.node().input(0)->type;
    return Registry::instance().find(c.node())->vector_accepts(c.node());
  };
  EXPECT_FALSE(accepts(1));
  EXPECT_TRUE(accepts(2));
}

}  // namespace
}  // namespace atc::ops
