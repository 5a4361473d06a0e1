#include <cmath>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(LSTM, InfersShapes) {
  const auto lstm = [](int layout, const char* direction, std::int64_t d) {
    NodeCase c("LSTM", 14, 3);
    c.typed(DType::F32, ir::Shape{ir::Dim::named("a"), ir::Dim::named("b"), ir::Dim::of(8)});
    c.typed(DType::F32, Dims{d, 64, 8}).typed(DType::F32, Dims{d, 64, 16}).attr("hidden_size", 16);
    c.attr("layout", layout).attr("direction", direction);
    return c.inferred(0) + " " + c.inferred(1) + " " + c.inferred(2);
  };
  EXPECT_EQ(lstm(0, "forward", 1), "f32[a,1,b,16] f32[1,b,16] f32[1,b,16]");
  EXPECT_EQ(lstm(1, "bidirectional", 2), "f32[a,b,2,16] f32[a,2,16] f32[a,2,16]");
}

TEST(LSTM, Refusals) {
  const auto lstm = [](Dims w, const char* direction) {
    NodeCase c("LSTM", 7);
    return c.typed(DType::F32, Dims{5, 1, 8})
        .typed(DType::F32, w)
        .typed(DType::F32, Dims{1, 64, 16})
        .attr("direction", direction)
        .inferred();
  };
  EXPECT_THAT(lstm({1, 48, 8}, "forward"),
              AllOf(HasSubstr("input 1"), HasSubstr("must have shape [1,64,8]")));
  EXPECT_THAT(lstm({1, 64, 8}, "backward"), HasSubstr("expected forward, reverse or bidirectional"));
}

/// A scalar LSTM by its equations: i, o, f, c gates with peepholes on i, f (of the old state) and o.
TEST(LSTM, MatchesTheEquations) {
  const std::vector<double> x = {0.5, -1, 2};
  const std::vector<double> w = {0.1, 0.2, 0.3, 0.4};
  const std::vector<double> r = {-0.5, 0.6, 0.7, -0.8};
  const std::vector<double> bias = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08};
  const std::vector<double> p = {0.3, -0.2, 0.1};  // i, o, f
  double h = 0.25;
  double c = -0.5;
  std::vector<double> expected;
  for (double v : x) {
    const auto gate = [&](std::size_t k) { return w[k] * v + r[k] * h + bias[k] + bias[k + 4]; };
    const double i = sigmoid(gate(0) + p[0] * c);
    const double f = sigmoid(gate(2) + p[2] * c);
    const double next = f * c + i * std::tanh(gate(3));
    const double o = sigmoid(gate(1) + p[1] * next);
    h = o * std::tanh(next);
    c = next;
    expected.push_back(h);
  }
  NodeCase node("LSTM", 7, 3);
  node.data(f32({3, 1, 1}, x))
      .constant(f32({1, 4, 1}, w))
      .constant(f32({1, 4, 1}, r))
      .constant(f32({1, 8}, bias));
  node.absent().constant(f32({1, 1, 1}, {0.25})).constant(f32({1, 1, 1}, {-0.5})).constant(f32({1, 3}, p));
  const auto out = node.attr("hidden_size", 1).run();
  expect_near(out.at(0), {3, 1, 1, 1}, expected, 1e-6);
  expect_near(out.at(1), {1, 1, 1}, {h}, 1e-6);
  expect_near(out.at(2), {1, 1, 1}, {c}, 1e-6);
}

TEST(LSTM, CoupledGatesAndClip) {
  NodeCase node("LSTM", 7, 3);
  node.data(f32({1, 1, 1}, {100}))
      .constant(f32({1, 4, 1}, {1, 1, 1, 1}))
      .constant(f32({1, 4, 1}, {0, 0, 0, 0}));
  node.absent().absent().absent().constant(f32({1, 1, 1}, {2}));
  const auto out = node.attr("input_forget", 1).attr("clip", ir::Attribute(0.5F)).run();
  const double i = sigmoid(0.5);
  const double c = (1 - i) * 2 + i * std::tanh(0.5);
  expect_near(out.at(2), {1, 1, 1}, {c}, 1e-6);
  expect_near(out.at(1), {1, 1, 1}, {sigmoid(0.5) * std::tanh(0.5)}, 1e-6);  // h clips c as well
}

TEST(LSTM, ReverseIsForwardOnReversedInput) {
  const Tensor w = noise_tensor({1, 12, 2}, 1);
  const Tensor r = noise_tensor({1, 12, 3}, 2);
  const auto run = [&](Tensor x, const char* direction) {
    return to_doubles(NodeCase("LSTM", 14)
                          .data(std::move(x))
                          .constant(w)
                          .constant(r)
                          .attr("direction", direction)
                          .run_one());
  };
  const auto forward = run(f32({2, 1, 2}, {1, 2, 3, 4}), "forward");
  const auto reverse = run(f32({2, 1, 2}, {3, 4, 1, 2}), "reverse");
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(forward[j], reverse[3 + j], 1e-6);
    EXPECT_NEAR(forward[3 + j], reverse[j], 1e-6);
  }
}

TEST(RNN, SequenceLengthsEndEachRowByItself) {
  // h' = relu(x + h): running sums.
  NodeCase node("RNN", 7, 2);
  node.data(f32({3, 2, 1}, {1, 10, 2, 20, 4, 40}))
      .constant(f32({1, 1, 1}, {1}))
      .constant(f32({1, 1, 1}, {1}));
  node.absent().constant(tensor_of(DType::I32, {2}, {3, 2}));
  node.attr("activations", ir::Attribute(std::vector<std::string>{"Relu"}));
  const auto out = node.run();
  expect_near(out.at(0), {3, 1, 2, 1}, {1, 10, 3, 30, 7, 0});
  expect_near(out.at(1), {1, 2, 1}, {7, 30});
}

TEST(RNN, ReversedRowsStartAtTheirOwnEnd) {
  NodeCase node("RNN", 7, 2);
  node.data(f32({3, 2, 1}, {1, 10, 2, 20, 4, 40}))
      .constant(f32({2, 1, 1}, {1, 1}))
      .constant(f32({2, 1, 1}, {1, 1}));
  node.absent().constant(tensor_of(DType::I32, {2}, {3, 2})).attr("direction", "bidirectional");
  node.attr("activations", ir::Attribute(std::vector<std::string>{"Relu", "Relu"}));
  const auto out = node.run();
  expect_near(out.at(0), {3, 2, 2, 1}, {1, 10, 7, 30, 3, 30, 6, 20, 7, 0, 4, 0});
  expect_near(out.at(1), {2, 2, 1}, {7, 30, 7, 30});
}

TEST(RNN, ActivationsConsumeTheirParametersInOrder) {
  const auto run = [](const char* name, std::vector<float> alpha, std::vector<float> beta) {
    NodeCase node("RNN", 7);
    node.data(f32({1, 1, 1}, {-2})).constant(f32({1, 1, 1}, {1})).constant(f32({1, 1, 1}, {0}));
    node.attr("activations", ir::Attribute(std::vector<std::string>{name}));
    if (!alpha.empty()) node.attr("activation_alpha", ir::Attribute(alpha));
    if (!beta.empty()) node.attr("activation_beta", ir::Attribute(beta));
    return to_doubles(node.run_one()).at(0);
  };
  EXPECT_NEAR(run("Affine", {3}, {1}), -5, 1e-6);
  EXPECT_NEAR(run("LeakyRelu", {}, {}), -0.02, 1e-6);
  EXPECT_NEAR(run("leakyrelu", {0.5F}, {}), -1, 1e-6);
  EXPECT_NEAR(run("HardSigmoid", {}, {}), 0.1, 1e-6);
  EXPECT_NEAR(run("Softsign", {}, {}), -2.0 / 3, 1e-6);
  EXPECT_NEAR(run("Softplus", {}, {}), std::log1p(std::exp(-2)), 1e-6);
  EXPECT_NEAR(run("ScaledTanh", {2}, {0.5F}), 2 * std::tanh(-1), 1e-6);
  NodeCase two("RNN", 7);
  two.data(f32({1, 1, 1}, {-2})).constant(f32({2, 1, 1}, {1, 1})).constant(f32({2, 1, 1}, {0, 0}));
  two.attr("direction", "bidirectional").attr("activation_alpha", ir::Attribute(std::vector<float>{0.25F}));
  two.attr("activations", ir::Attribute(std::vector<std::string>{"Tanh", "LeakyRelu"}));
  expect_near(two.run_one(), {1, 2, 1, 1}, {std::tanh(-2), -0.5}, 1e-6);
}

TEST(GRU, BothFormsOfReset) {
  const auto run = [](int linear_before_reset) {
    NodeCase node("GRU", 7);
    node.data(f32({1, 1, 1}, {0.5}))
        .constant(f32({1, 3, 1}, {0.1, 0.2, 0.3}))
        .constant(f32({1, 3, 1}, {0.4, 0.5, 0.6}));
    node.constant(f32({1, 6}, {0.01, 0.02, 0.03, 0.04, 0.05, 0.06})).absent().constant(f32({1, 1, 1}, {2}));
    return to_doubles(node.attr("linear_before_reset", linear_before_reset).run_one()).at(0);
  };
  const double z = sigmoid(0.1 * 0.5 + 0.4 * 2 + 0.05);
  const double r = sigmoid(0.2 * 0.5 + 0.5 * 2 + 0.07);
  const double before = std::tanh(0.3 * 0.5 + 0.03 + 0.6 * (r * 2) + 0.06);
  const double after = std::tanh(0.3 * 0.5 + 0.03 + r * (0.6 * 2 + 0.06));
  EXPECT_NEAR(run(0), (1 - z) * before + z * 2, 1e-6);
  EXPECT_NEAR(run(1), (1 - z) * after + z * 2, 1e-6);
}

TEST(GRU, Refusals) {
  EXPECT_THAT(NodeCase("GRU", 7)
                  .data(f32({1, 1, 1}, {0.5}))
                  .constant(f32({1, 3, 1}, {1, 1, 1}))
                  .constant(f32({1, 3, 1}, {1, 1, 1}))
                  .attr("hidden_size", 2)
                  .inferred(),
              HasSubstr("must have shape [1,6,1]"));
  EXPECT_THAT(NodeCase("GRU", 1)
                  .typed(DType::F32, Dims{1, 1, 1})
                  .typed(DType::F32, Dims{1, 3, 1})
                  .typed(DType::F32, Dims{1, 3, 1})
                  .attr("linear_before_reset", 1)
                  .inferred(),
              HasSubstr("attribute linear_before_reset does not exist in opset 1"));
}

}  // namespace
}  // namespace atc::ops
