#include "passes/custom_offer.h"

#include <algorithm>

#include "passes/rewrite.h"
#include "passes/shape_inference.h"

namespace atc::passes {

bool declares(const custom::OpInfo& op, std::string_view attribute) {
  return std::any_of(op.attrs.begin(), op.attrs.end(),
                     [&](const custom::AttrInfo& a) { return a.value.name == attribute; });
}

int output_of(const custom::OpInfo& op, std::string_view name) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (op.outputs[i].name == name) return static_cast<int>(i);
  return -1;
}

std::string cannot_take(const custom::OpInfo& op, const CustomOffer& offer) {
  const std::string who = "the custom operator " + op.type;
  for (const std::string& name : offer.needed)
    if (!declares(op, name)) return who + " has no attribute " + name + ", which the subgraph needs";
  if (offer.inputs.size() > op.inputs.size())
    return who + " has " + std::to_string(op.inputs.size()) + " inputs, the subgraph gives " +
           std::to_string(offer.inputs.size());
  for (std::size_t i = offer.inputs.size(); i < op.inputs.size(); ++i)
    if (!op.inputs[i].optional)
      return who + " needs an input '" + op.inputs[i].name + "', the subgraph gives " +
             std::to_string(offer.inputs.size()) + " inputs";
  return {};
}

StatusOr<ir::Node*> write_custom(ir::Graph& graph, const CustomOffer& offer, const CustomEntry& entry,
                                 std::size_t outputs, CustomTakeover& takeover) {
  const custom::OpInfo& op = entry.info();
  ir::Node* made = graph.add_node("Custom", offer.inputs, static_cast<int>(outputs), offer.last, "atc", 0);
  made->name = offer.last->name;
  for (const ir::Node* n : offer.nodes) add_sources(*made, *n);
  for (const auto& [name, value] : offer.attrs)
    if (declares(op, name)) made->attrs.set(name, value);
  set_custom(*made, entry);
  ShapeInference inference(graph);
  ATC_TRY(inference.infer(*made));
  const ir::TensorType& type = made->output(0)->type;
  if (!type.is_static() || type.dims() != offer.result)
    return Status::error("E89999", made->label() + ": the custom operator " + op.type + " (" +
                                       entry.library->name() + ") gives " +
                                       (type.is_static() ? "[" + to_string(type.dims()) + "]" : "no shape") +
                                       ", the subgraph that it stands for [" + to_string(offer.result) + "]")
        .solution("models/custom_ops/README.md has the inputs and attributes of each subgraph.");
  takeover.taken.push_back({op.type, entry.library->name(), offer.pattern, made->name, made->sources});
  return made;
}

}  // namespace atc::passes
