#include "plan/validate_air.h"

#include <span>

#include "atc/ir/text.h"
#include "ops/op.h"
#include "passes/infer_shapes.h"

namespace atc::plan {
namespace {

Status broken(const std::string& reason) {
  return Status::error("E10041", "Failed to load the model: " + reason);
}

/// The graph's values must be those that the task binds to them.
Status match(const Plan& plan, const std::vector<int>& tensors, std::span<ir::Value* const> values,
             const char* what, const std::string& label) {
  if (tensors.size() != values.size())
    return broken(label + " binds " + std::to_string(tensors.size()) + " " + what + "s, its operator has " +
                  std::to_string(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(tensors[i])];
    const ir::TensorType& type = values[i]->type;
    const bool fits = type.dtype == tensor.dtype && type.format == tensor.format &&
                      (tensor.space == Space::Held || !type.is_static() || type.dims() == tensor.shape);
    if (!fits)
      return broken(label + ": " + what + " " + std::to_string(i) + " of its operator is " +
                    ir::to_string(type) + ", tensor '" + tensor.name + "' is " +
                    ir::to_string(ir::tensor_type(tensor.dtype, tensor.shape, tensor.format)));
  }
  return {};
}

}  // namespace

Status validate_air(const Plan& plan, const PlanTask& task, const std::string& label) {
  auto graph = ir::parse(task.air);
  if (!graph.ok())
    return broken(label + " has a text that cannot be read: " + graph.status().diagnostic().message);
  ir::Graph& g = **graph;
  if (task.engine == Engine::AiCpu && g.node_count() != 1)
    return broken(label + " has " + std::to_string(g.node_count()) + " operators, one is expected");
  for (const auto& node : g.nodes()) {
    const ops::OpDef* def = ops::Registry::instance().find(*node);
    if (def == nullptr || def->reference == nullptr)
      return broken(label + " has operator " + node->label() + ", which the AI CPU does not know");
  }
  // What the operator makes of its inputs, whatever the text says: attributes, types and shapes are
  // checked on the way.
  if (const Status s = passes::infer_shapes(g); !s.ok()) return broken(label + ": " + s.diagnostic().message);
  ATC_TRY(match(plan, task.inputs, g.inputs(), "input", label));
  return match(plan, task.outputs, g.outputs(), "output", label);
}

}  // namespace atc::plan
