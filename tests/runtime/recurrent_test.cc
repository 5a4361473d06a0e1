// LSTM, GRU and RNN over the whole way: passes, plan, tasks on the simulated AI Core, against the plain
// reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "atc/ir/text.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "plan/build.h"
#include "runtime/reference_graph.h"
#include "runtime/session.h"

namespace atc::runtime {
namespace {

using Strings = std::vector<std::string>;

/// One node and how it is fed.
struct Form {
  std::string type = "LSTM";
  int version = 14;
  std::int64_t sequence = 6, batch = 3, input = 10, hidden = 12;
  std::string direction = "forward";
  std::int64_t layout = 0;
  bool bias = true, lengths = false, initial = false, peepholes = false;
  bool constant_weights = true;
  std::vector<bool> outputs = {true, true, true};
  std::map<std::string, ir::Attribute> attributes = {};
  DType dtype = DType::F32;

  std::int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  std::int64_t gates() const { return type == "LSTM" ? 4 : type == "GRU" ? 3 : 1; }
};

struct Model {
  std::unique_ptr<ir::Graph> graph;
  std::vector<Tensor> inputs;
};

Model make_model(const Form& f, unsigned seed, double range = 0.8) {
  Model m;
  m.graph = std::make_unique<ir::Graph>("recurrent");
  std::mt19937 rng(seed);
  const auto noise = [&](Dims dims, double factor = 1) {
    std::uniform_real_distribution<double> dist(-range * factor, range * factor);
    std::vector<double> v(static_cast<std::size_t>(element_count(dims)));
    for (double& x : v) x = dist(rng);
    return from_doubles(f.dtype, std::move(dims), v);
  };
  std::vector<ir::Value*> in;
  const auto feed = [&](const char* name, Tensor t, bool constant) {
    if (constant) {
      in.push_back(m.graph->add_constant(name, std::move(t)));
      return;
    }
    in.push_back(m.graph->add_input(name, ir::tensor_type(t.dtype, t.shape)));
    m.inputs.push_back(std::move(t));
  };
  const std::int64_t d = f.directions(), h = f.hidden, g = f.gates();
  const bool first = f.layout != 0;
  const Dims state = first ? Dims{f.batch, d, h} : Dims{d, f.batch, h};
  feed("X", noise(first ? Dims{f.batch, f.sequence, f.input} : Dims{f.sequence, f.batch, f.input}), false);
  feed("W", noise({d, g * h, f.input}), f.constant_weights);
  // Wide layers of large weights are chaotic: any rounding would grow from step to step.
  feed("R", noise({d, g * h, h}, std::min(1.0, 2 / std::sqrt(static_cast<double>(h)))), f.constant_weights);
  const auto optional = [&](bool has, const char* name, auto make, bool constant) {
    if (has)
      feed(name, make(), constant);
    else
      in.push_back(nullptr);
  };
  optional(
      f.bias, "B",
      [&] {
        return noise({d, 2 * g * h});
      },
      f.constant_weights);
  optional(
      f.lengths, "lengths",
      [&] {
        std::vector<std::int64_t> n;
        for (std::int64_t b = 0; b < f.batch; ++b)
          n.push_back(static_cast<std::int64_t>(rng()) % (f.sequence + 1));
        return from_int64s(DType::I32, {f.batch}, n);
      },
      false);
  optional(
      f.initial, "initial_h", [&] { return noise(state); }, false);
  if (f.type == "LSTM") {
    optional(
        f.initial, "initial_c", [&] { return noise(state); }, false);
    optional(
        f.peepholes, "P",
        [&] {
          return noise({d, 3 * h});
        },
        f.constant_weights);
  }
  while (in.back() == nullptr) in.pop_back();
  const int outputs = f.type == "LSTM" ? 3 : 2;
  ir::Node* node = m.graph->add_node(f.type, in, outputs, nullptr, {}, f.version);
  node->name = "cell";
  node->attrs.set("hidden_size", h);
  node->attrs.set("direction", f.direction);
  if (f.layout != 0) node->attrs.set("layout", f.layout);
  for (const auto& [name, value] : f.attributes) node->attrs.set(name, value);
  const Dims y = first ? Dims{f.batch, f.sequence, d, h} : Dims{f.sequence, d, f.batch, h};
  for (int i = 0; i < outputs; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (!f.outputs[k]) {
      m.graph->drop_output(node, k);
      continue;
    }
    node->output(k)->set_name("out" + std::to_string(i));
    node->output(k)->type = ir::tensor_type(f.dtype, i == 0 ? y : state);
    m.graph->add_output(node->output(k));
  }
  return m;
}

struct Result {
  Status status;
  std::vector<Tensor> outputs;
  int on_core = 0, on_cpu = 0;
};

Result compile_and_run(ir::Graph& graph, const std::vector<Tensor>& inputs, passes::Precision precision,
                       std::string_view soc = "Ascend910B3") {
  Result run;
  const auto work = [&]() -> Status {
    ATC_ASSIGN(const soc::Chip* chip, soc::find_chip(soc));
    passes::PassContext context;
    context.options.chip = chip;
    context.options.precision = precision;
    passes::PassManager manager(passes::pipeline(), {.verify_each = true});
    ATC_TRY(manager.run(graph, context));
    ATC_ASSIGN(plan::BuiltPlan built, plan::build_plan(graph, *chip));
    ATC_TRY(plan::validate(built.plan));
    for (const plan::PlanTask& t : built.plan.tasks)
      (t.engine == plan::Engine::AiCore ? run.on_core : run.on_cpu)++;
    Bytes weights = built.weight_section();
    ATC_ASSIGN(auto prepared, prepare(std::move(built.plan)));
    ATC_ASSIGN(auto session, Session::create(prepared, std::move(weights), {.threads = 1}));
    ATC_ASSIGN(run.outputs, session->run(inputs));
    return {};
  };
  run.status = work();
  return run;
}

double cosine(const Tensor& actual, const Tensor& expected) {
  const auto a = to_doubles(actual), e = to_doubles(expected);
  double ae = 0, aa = 0, ee = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    ae += a[i] * e[i];
    aa += a[i] * a[i];
    ee += e[i] * e[i];
  }
  return aa == 0 && ee == 0 ? 1 : ae / std::sqrt(aa * ee);
}

/// All of the node on the AI Core, in fp32 near the reference and in fp16 with its direction.
void expect_right(const Form& f, unsigned seed) {
  const Model m = make_model(f, seed);
  const auto expected = evaluate_reference(*m.graph, m.inputs);
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  for (const passes::Precision precision : {passes::Precision::Origin, passes::Precision::Fp16}) {
    const std::unique_ptr<ir::Graph> graph = m.graph->clone();
    const Result run = compile_and_run(*graph, m.inputs, precision);
    ASSERT_TRUE(run.status.ok()) << run.status.to_string();
    EXPECT_EQ(run.on_cpu, 0);
    ASSERT_EQ(run.outputs.size(), expected->size());
    for (std::size_t i = 0; i < run.outputs.size(); ++i) {
      const Tensor& want = (*expected)[i];
      ASSERT_EQ(run.outputs[i].shape, want.shape);
      ASSERT_EQ(run.outputs[i].dtype, want.dtype);
      const bool exact = precision == passes::Precision::Origin && f.dtype == DType::F32;
      ASSERT_GE(cosine(run.outputs[i], want), exact ? 0.999999 : 0.9995) << "output " << i;
      if (!exact) continue;
      const auto a = to_doubles(run.outputs[i]), e = to_doubles(want);
      for (std::size_t k = 0; k < e.size(); ++k)
        ASSERT_NEAR(a[k], e[k], 2e-5 * (1 + std::abs(e[k]))) << "output " << i << " at " << k;
    }
  }
}

TEST(Recurrent, EveryCombinationOfDirectionLayoutAndInputs) {
  unsigned seed = 1;
  for (const char* type : {"LSTM", "GRU", "RNN"})
    for (const char* direction : {"forward", "reverse", "bidirectional"})
      for (const std::int64_t layout : {0, 1})
        for (const bool lengths : {false, true}) {
          Form f;
          f.type = type;
          f.direction = direction;
          f.layout = layout;
          f.lengths = lengths;
          f.initial = seed % 3 != 0;
          f.bias = seed % 4 != 0;
          f.peepholes = seed % 2 == 0;
          f.constant_weights = seed % 5 != 0;
          if (seed % 2 != 0) f.attributes["linear_before_reset"] = std::int64_t{1};
          if (f.type != "GRU") f.attributes.clear();
          if (f.type == "LSTM" && seed % 7 == 0) f.attributes["input_forget"] = std::int64_t{1};
          if (seed % 3 == 1) f.attributes["clip"] = 0.6F;
          SCOPED_TRACE(f.type + " seed " + std::to_string(seed));
          expect_right(f, seed++);
        }
}

TEST(Recurrent, RandomForms) {
  for (unsigned seed = 100; seed < 160; ++seed) {
    std::mt19937 rng(seed);
    const auto one_of = [&](std::initializer_list<int> list) {
      return *(list.begin() + rng() % list.size());
    };
    const auto coin = [&] { return rng() % 2 == 0; };
    Form f;
    f.type = Strings{"LSTM", "GRU", "RNN"}[rng() % 3];
    f.direction = Strings{"forward", "reverse", "bidirectional"}[rng() % 3];
    f.layout = one_of({0, 1});
    f.version = f.layout == 1 ? one_of({14, 22}) : one_of({7, 14, 22});
    f.sequence = one_of({1, 2, 7, 20});
    f.batch = one_of({1, 2, 5, 40});
    f.input = one_of({1, 16, 33});
    f.hidden = one_of({1, 8, 16, 30, 64, 100});
    f.bias = coin();
    f.lengths = coin();
    f.initial = coin();
    f.peepholes = coin();
    f.constant_weights = coin();
    f.outputs = {coin(), coin(), coin()};
    if (!f.outputs[0] && !f.outputs[1]) f.outputs[coin() ? 0 : 1] = true;
    if (f.type == "GRU" && coin()) f.attributes["linear_before_reset"] = std::int64_t{1};
    if (f.type == "LSTM" && coin()) f.attributes["input_forget"] = std::int64_t{1};
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + f.type);
    expect_right(f, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(Recurrent, EveryActivation) {
  const Strings names = {"Affine",  "Elu",      "HardSigmoid", "LeakyRelu", "Relu",           "ScaledTanh",
                         "Sigmoid", "Softplus", "Softsign",    "Tanh",      "ThresholdedRelu"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    Form f;
    f.type = "RNN";
    f.direction = "bidirectional";
    f.attributes["activations"] = Strings{names[i], names[(i + 1) % names.size()]};
    f.attributes["activation_alpha"] = std::vector<float>{0.3F, 0.4F};
    f.attributes["activation_beta"] = std::vector<float>{0.7F};
    f.attributes["clip"] = 2.0F;
    SCOPED_TRACE(names[i]);
    expect_right(f, 40);
    f.type = "GRU";
    f.attributes["activations"] = Strings{"Sigmoid", names[i], "HardSigmoid", names[i]};
    f.attributes.erase("activation_beta");
    expect_right(f, 41);
    f.type = "LSTM";
    f.direction = "reverse";
    f.peepholes = true;
    f.attributes["activations"] = Strings{"HardSigmoid", names[i], "Softsign"};
    expect_right(f, 42);
  }
}

/// A thousand steps in fp16: errors of one step are carried to the last.
TEST(Recurrent, LongSequencesKeepTheirDirectionInHalfPrecision) {
  for (const char* type : {"LSTM", "GRU", "RNN"}) {
    Form f;
    f.type = type;
    f.sequence = 1000;
    f.batch = 1;
    f.hidden = 48;
    f.input = 24;
    f.outputs = {true, true, true};
    const Model m = make_model(f, 7, 0.3);
    const auto expected = evaluate_reference(*m.graph, m.inputs);
    ASSERT_TRUE(expected.ok());
    const Result run = compile_and_run(*m.graph, m.inputs, passes::Precision::Fp16);
    ASSERT_TRUE(run.status.ok()) << run.status.to_string();
    EXPECT_EQ(run.on_cpu, 0);
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
      EXPECT_GE(cosine(run.outputs[i], (*expected)[i]), 0.9999) << type << " output " << i;
  }
}

TEST(Recurrent, ModelsInHalfPrecisionAndOtherChips) {
  Form f;
  f.direction = "bidirectional";
  f.batch = 20;
  f.dtype = DType::F16;
  expect_right(f, 3);
  const Model m = make_model(f, 4);
  const auto expected = evaluate_reference(*m.graph, m.inputs);
  for (const char* soc : {"Ascend310", "Ascend310P3", "Ascend310B1"}) {
    const std::unique_ptr<ir::Graph> graph = m.graph->clone();
    const Result run = compile_and_run(*graph, m.inputs, passes::Precision::Origin, soc);
    ASSERT_TRUE(run.status.ok()) << run.status.to_string();
    EXPECT_EQ(run.on_cpu, 0);
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
      EXPECT_GE(cosine(run.outputs[i], (*expected)[i]), 0.9995) << soc;
  }
}

TEST(Recurrent, WhatTheCoreDoesNotTakeRunsOnTheAiCpu) {
  Form f;
  f.dtype = DType::F64;
  const Model m = make_model(f, 5);
  const auto expected = evaluate_reference(*m.graph, m.inputs);
  const Result run = compile_and_run(*m.graph, m.inputs, passes::Precision::Fp16);
  ASSERT_TRUE(run.status.ok()) << run.status.to_string();
  EXPECT_EQ(run.on_core, 0);
  EXPECT_EQ(run.on_cpu, 1);
  EXPECT_EQ(to_doubles(run.outputs.at(0)), to_doubles(expected->at(0)));
}

TEST(Recurrent, RefusesActivationsThatDoNotExist) {
  const auto refusal = [](Strings names) {
    Form f;
    f.attributes["activations"] = std::move(names);
    const Model m = make_model(f, 6);
    return compile_and_run(*m.graph, m.inputs, passes::Precision::Origin).status.to_string();
  };
  EXPECT_THAT(refusal({"Sigmoid", "Tanh", "Swish"}),
              ::testing::HasSubstr("names \"Swish\", which does not exist"));
  EXPECT_THAT(refusal({"Sigmoid", "Tanh"}), ::testing::HasSubstr("has 2 names, expected 3"));
}

}  // namespace
}  // namespace atc::runtime
