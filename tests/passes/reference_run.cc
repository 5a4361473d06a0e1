#include "reference_run.h"

#include <gtest/gtest.h>

#include <map>

#include "ops/op.h"
#include "passes/infer_shapes.h"

namespace atc::passes {
namespace {

constexpr int kOpset = 14;

class Maker {
 public:
  Maker(std::mt19937& rng, ir::Graph& graph) : rng_(rng), graph_(graph) {
    floats_.push_back(graph.add_input("x", ir::tensor_type(DType::F32, {2, 3, 4})));
    for (double v : {0.0, -0.0, 1.0, 2.0, 0.5}) floats_.push_back(scalar(v));
    floats_.push_back(scalar(1.0));
  }

  void add() {
    switch (rng_() % 9) {
      case 0:
      case 1:
        return push(node(pick({"Add", "Sub", "Mul", "Max"}), {any(), any()}));
      case 2:
        return push(node(pick({"Relu", "Neg", "Abs", "Identity"}), {any()}));
      case 3: {  // the same node twice
        ir::Value* a = any();
        push(node("Relu", {a}));
        return push(node("Relu", {a}));
      }
      case 4: {
        ir::Node* cast = node("Cast", {any()});
        cast->attrs.set("to", std::int64_t{1});
        return push(cast);
      }
      case 5:
        return push(node("Max", {any()}));
      case 6: {  // x reshaped to its own shape, by way of Shape and Gather
        ir::Value* a = any();
        ir::Value* shape = node("Shape", {a})->output(0);
        return push(node("Reshape", {a, shape}));
      }
      case 7:
        return push(node("Dropout", {any()}));
      default:
        return floats_.push_back(scalar(static_cast<double>(rng_() % 4)));
    }
  }

  ir::Value* any() { return floats_[rng_() % floats_.size()]; }

 private:
  ir::Value* scalar(double v) { return graph_.add_constant("", scalar_tensor(DType::F32, v)); }
  std::string pick(const std::vector<std::string>& names) { return names[rng_() % names.size()]; }
  ir::Node* node(const std::string& type, std::vector<ir::Value*> inputs) {
    ir::Node* n = graph_.add_node(type, std::move(inputs), 1, nullptr, "", kOpset);
    n->name = type + std::to_string(n->id());
    n->sources = {n->name};
    return n;
  }
  void push(ir::Node* n) { floats_.push_back(n->output(0)); }

  std::mt19937& rng_;
  ir::Graph& graph_;
  std::vector<ir::Value*> floats_;
};

}  // namespace

std::vector<Tensor> reference_run(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<const ir::Value*, Tensor> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[graph.inputs()[i]] = inputs[i];
  const auto value = [&](const ir::Value* v) -> const Tensor* {
    if (v == nullptr) return nullptr;
    return v->is_constant() ? &v->constant() : &values.at(v);
  };
  for (const auto& node : graph.nodes()) {
    std::vector<const Tensor*> arguments;
    for (const ir::Value* v : node->inputs()) arguments.push_back(value(v));
    ops::EvalContext context(*node, std::move(arguments));
    const Status status = ops::Registry::instance().find(*node)->reference(context);
    EXPECT_TRUE(status.ok()) << status.to_string();
    for (std::size_t i = 0; i < node->outputs().size(); ++i)
      if (node->output(i) != nullptr) values[node->output(i)] = context.outputs[i];
  }
  std::vector<Tensor> results;
  for (const ir::Value* v : graph.outputs()) results.push_back(*value(v));
  return results;
}

std::unique_ptr<ir::Graph> random_foldable_graph(std::mt19937& rng, int nodes) {
  auto graph = std::make_unique<ir::Graph>("random");
  Maker maker(rng, *graph);
  for (int i = 0; i < nodes; ++i) maker.add();
  for (int i = 0; i < 3; ++i) {
    ir::Value* v = maker.any();
    // An output has one name: through a node of its own.
    ir::Node* out = graph->add_node("Identity", {v}, 1, nullptr, "", kOpset);
    out->output(0)->set_name("out" + std::to_string(i));
    graph->add_output(out->output(0));
  }
  const Status status = infer_shapes(*graph);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return graph;
}

}  // namespace atc::passes
