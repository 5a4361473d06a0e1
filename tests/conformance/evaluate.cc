#include "conformance/evaluate.h"

#include "ops/op.h"

namespace atc::conformance {
namespace {

const Tensor* find(const ir::Value* v, const Environment& environment) {
  if (v == nullptr) return nullptr;
  if (v->is_constant()) return &v->constant();
  const auto at = environment.find(v);
  return at == environment.end() ? nullptr : &at->second;
}

Status evaluate_node(const ir::Node& node, Environment& environment) {
  const ops::OpDef* def = ops::Registry::instance().find(node);
  if (def == nullptr || def->reference == nullptr)
    return Status::error("E16002",
                         "no reference of " + node.label() + " in opset " + std::to_string(node.version));
  std::vector<const Tensor*> inputs;
  for (const ir::Value* v : node.inputs()) {
    inputs.push_back(find(v, environment));
    if (v != nullptr && inputs.back() == nullptr)
      return Status::error("E16002", node.label() + ": input '" + v->name() + "' has no value");
  }
  ops::EvalContext ctx(node, std::move(inputs));
  ctx.eval_subgraph = [&](const ir::Graph& body,
                          std::vector<Tensor> arguments) -> StatusOr<std::vector<Tensor>> {
    Environment inner = environment;
    for (std::size_t i = 0; i < body.inputs().size() && i < arguments.size(); ++i)
      inner[body.inputs()[i]] = std::move(arguments[i]);
    ATC_TRY(evaluate(body, inner));
    std::vector<Tensor> results;
    for (const ir::Value* v : body.outputs()) {
      const Tensor* t = find(v, inner);
      if (t == nullptr) return Status::error("E16002", "subgraph output '" + v->name() + "' has no value");
      results.push_back(*t);
    }
    return results;
  };
  ATC_TRY(def->reference(ctx));
  for (std::size_t i = 0; i < node.outputs().size(); ++i)
    if (node.output(i) != nullptr) environment[node.output(i)] = std::move(ctx.outputs[i]);
  return {};
}

}  // namespace

Status evaluate(const ir::Graph& graph, Environment& environment) {
  for (const auto& node : graph.nodes()) ATC_TRY(evaluate_node(*node, environment));
  return {};
}

}  // namespace atc::conformance
