#include "runtime/reference_graph.h"

#include <unordered_map>

#include "ops/op.h"

namespace atc::runtime {
namespace {

/// The values known while a graph runs; those of enclosing graphs are behind `outer`.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<const ir::Value*, Tensor> values;

  const Tensor* find(const ir::Value* value) const {
    if (value->is_constant()) return &value->constant();
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer)
      if (const auto it = scope->values.find(value); it != scope->values.end()) return &it->second;
    return nullptr;
  }
};

StatusOr<std::vector<Tensor>> evaluate(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                       const Scope* outer);

Status evaluate_node(const ir::Node& node, Scope& scope) {
  const ops::OpDef* def = ops::Registry::instance().find(node);
  if (def == nullptr || def->reference == nullptr)
    return Status::error("E10055",
                         "node " + node.label() + ": the AI CPU has no implementation of this operator");
  std::vector<const Tensor*> inputs;
  for (const ir::Value* value : node.inputs()) {
    const Tensor* tensor = value == nullptr ? nullptr : scope.find(value);
    ATC_CHECK(value == nullptr || tensor != nullptr,
              "node " + node.label() + ": input '" + value->name() + "' has no value yet");
    inputs.push_back(tensor);
  }
  ops::EvalContext context(node, std::move(inputs));
  context.eval_subgraph = [&scope](const ir::Graph& body, std::vector<Tensor> arguments) {
    return evaluate(body, arguments, &scope);
  };
  ATC_TRY(def->reference(context));
  for (std::size_t i = 0; i < node.outputs().size(); ++i)
    if (const ir::Value* value = node.output(i); value != nullptr)
      scope.values[value] = std::move(context.outputs[i]);
  return {};
}

StatusOr<std::vector<Tensor>> evaluate(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                       const Scope* outer) {
  ATC_CHECK(inputs.size() == graph.inputs().size(), "graph '" + graph.name + "' was given " +
                                                        std::to_string(inputs.size()) + " inputs, it has " +
                                                        std::to_string(graph.inputs().size()));
  Scope scope{outer, {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) scope.values[graph.inputs()[i]] = inputs[i];
  for (const auto& node : graph.nodes()) ATC_TRY(evaluate_node(*node, scope));
  std::vector<Tensor> outputs;
  for (const ir::Value* value : graph.outputs()) {
    const Tensor* tensor = scope.find(value);
    ATC_CHECK(tensor != nullptr, "output '" + value->name() + "' of graph '" + graph.name + "' has no value");
    outputs.push_back(*tensor);
  }
  return outputs;
}

}  // namespace

StatusOr<std::vector<Tensor>> evaluate_reference(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  return evaluate(graph, inputs, nullptr);
}

}  // namespace atc::runtime
