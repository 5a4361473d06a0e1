// Nodes and their attributes: part of GraphImporter.
#include "frontend/onnx/attribute_import.h"
#include "frontend/onnx/graph_import.h"
#include "frontend/onnx/names.h"
#include "frontend/onnx/proto.h"

namespace atc::frontend {
namespace {

std::string attribute_label(const std::string& node_label, const std::string& name) {
  return node_label + ", attribute '" + name + "'";
}

/// Before the tags of nodes in a body: "if_3.then_branch/".
std::string body_prefix(const std::string& node_tag, const std::string& attribute_name) {
  return node_tag + "." + attribute_name + "/";
}

}  // namespace

Status GraphImporter::import_nodes(const NodeProtos& nodes, Scope& scope, ir::Graph& graph) {
  const auto is_defined = [&](std::string_view name) { return scope.values.contains(name); };
  ATC_ASSIGN(const std::vector<int> order, topological_order(nodes, is_defined, scope.node_prefix, context_));
  for (const int i : order) ATC_TRY(import_node(nodes.Get(i), i, scope, graph));
  return {};
}

Status GraphImporter::import_node(const onnx::NodeProto& proto, int index, Scope& scope, ir::Graph& graph) {
  const std::string label = node_label(proto, scope.node_prefix, index);
  ++node_count_;
  if (scope.call != nullptr) ATC_TRY(check_growth(0, label));
  if (proto.op_type().empty()) return context_.fault(label + " has no op_type");
  if (const Function* function = functions_.find(proto); function != nullptr)
    return inline_call(*function, proto, index, scope, graph);

  const std::string tag = scope.node_prefix + node_tag(proto, index);
  ATC_ASSIGN(std::vector<ir::Value*> inputs, node_inputs(proto, label, scope));
  ir::Attributes attributes;
  ATC_TRY(import_attributes(proto, label, tag, scope, graph, attributes));
  const std::string domain(normal_domain(proto.domain()));
  ATC_ASSIGN(const int version, version_of(domain, label, scope));

  ir::Node* node = graph.add_node(proto.op_type(), std::move(inputs), 0, nullptr, domain, version);
  // Names of nodes in a body stay as they are; those of an inlined function tell the call apart.
  if (!proto.name().empty()) node->name = scope.value_prefix + proto.name();
  node->sources = {proto.name().empty() ? tag : node->name};
  node->attrs = std::move(attributes);
  for (const auto& name : proto.output()) {
    ir::Value* value = graph.add_output_value(node, name.empty() ? "" : value_name(scope, name));
    if (!name.empty()) scope.values.emplace(name, value);
  }
  for (int i = 0; i < proto.output_size(); ++i)
    if (proto.output(i).empty()) graph.drop_output(node, static_cast<std::size_t>(i));
  return {};
}

StatusOr<std::vector<ir::Value*>> GraphImporter::node_inputs(const onnx::NodeProto& proto,
                                                             const std::string& label, const Scope& scope) {
  std::vector<ir::Value*> inputs;
  inputs.reserve(static_cast<std::size_t>(proto.input_size()));
  for (const auto& name : proto.input()) {
    const auto found = name.empty() ? std::optional<ir::Value*>(nullptr) : scope.find(name);
    if (!found) return undefined(label + ", input " + std::to_string(inputs.size()), name, scope);
    inputs.push_back(*found);
  }
  return inputs;
}

StatusOr<int> GraphImporter::version_of(std::string_view domain, const std::string& label,
                                        const Scope& scope) {
  for (const Opsets* opsets : {scope.opsets, &model_opsets_})
    if (const auto found = opsets->find(domain); found != opsets->end() && found->second > 0)
      return found->second;
  // What an operator of another domain means does not hang on a version that nobody wrote down.
  if (!domain.empty()) return 1;
  return Status::error("E16005", "model " + context_.file + ", " + label +
                                     ": opset_import has no version of the default domain")
      .cause("The file is truncated or was written without opset_import.");
}

StatusOr<BoundAttribute> GraphImporter::resolve(const onnx::AttributeProto& attribute,
                                                const std::string& label, const Scope& scope) {
  const std::string& reference = attribute.ref_attr_name();
  if (reference.empty()) return BoundAttribute{&attribute, &scope};
  const std::string who = attribute_label(label, attribute.name());
  if (scope.call == nullptr)
    return context_.fault(who + " refers to function attribute '" + reference + "' outside of any function");
  const auto bound = scope.call->attributes.find(reference);
  if (bound == scope.call->attributes.end()) return BoundAttribute{};
  const bool typed = attribute.type() != onnx::AttributeProto::UNDEFINED &&
                     bound->second.proto->type() != onnx::AttributeProto::UNDEFINED;
  if (typed && attribute.type() != bound->second.proto->type())
    return context_.fault(who + ": is of kind " + onnx::AttributeProto::AttributeType_Name(attribute.type()) +
                          ", but function attribute '" + reference + "' of kind " +
                          onnx::AttributeProto::AttributeType_Name(bound->second.proto->type()));
  return bound->second;
}

Status GraphImporter::import_attributes(const onnx::NodeProto& proto, const std::string& label,
                                        const std::string& tag, const Scope& scope, ir::Graph& graph,
                                        ir::Attributes& out) {
  for (const auto& attribute : proto.attribute()) {
    const std::string& name = attribute.name();
    const std::string who = attribute_label(label, name);
    if (name.empty()) return context_.fault(label + " has an attribute without a name");
    if (out.has(name)) return context_.fault(who + " is given twice");
    ATC_ASSIGN(const BoundAttribute bound, resolve(attribute, label, scope));
    if (bound.proto == nullptr) continue;
    if (attribute_kind(*bound.proto) == onnx::AttributeProto::GRAPH) {
      ATC_TRY(enter(who));
      ATC_ASSIGN(auto body, import_body(bound.proto->g(), *bound.scope, graph, body_prefix(tag, name)));
      --depth_;
      out.set(name, std::move(body));
    } else {
      ATC_ASSIGN(ir::Attribute value, import_attribute(*bound.proto, who, tensors_, context_));
      out.set(name, std::move(value));
    }
  }
  return {};
}

}  // namespace atc::frontend
