#include "frontend/onnx/graph_import.h"

#include <set>

#include "atc/base/strings.h"
#include "frontend/onnx/proto.h"

namespace atc::frontend {
namespace {

std::set<std::string_view> initializer_names(const onnx::GraphProto& proto) {
  std::set<std::string_view> names;
  for (const auto& tensor : proto.initializer()) names.insert(tensor.name());
  for (const auto& tensor : proto.sparse_initializer()) names.insert(tensor.values().name());
  return names;
}

}  // namespace

StatusOr<std::unique_ptr<ir::Graph>> GraphImporter::import_main(const onnx::GraphProto& proto) {
  const bool is_empty =
      proto.node_size() + proto.input_size() + proto.initializer_size() + proto.sparse_initializer_size() ==
      0;
  if (is_empty || proto.output_size() == 0)
    return Status::error("E16001", "the graph of model " + context_.file + " has no " +
                                       (is_empty ? "nodes and no inputs" : "outputs"))
        .cause("The file is damaged or was not exported completely.")
        .solution("Export the model again.");

  auto graph = std::make_unique<ir::Graph>(proto.name());
  Scope scope;
  scope.opsets = &model_opsets_;
  SymbolTable symbols(proto);
  const auto constants = initializer_names(proto);
  for (const auto& input : proto.input()) {
    // An initializer gives an input its default value, and nobody but the model feeds that one.
    if (constants.contains(input.name())) continue;
    if (input.name().empty()) return context_.fault("an input of its graph has no name");
    ATC_ASSIGN(ir::TensorType type, import_input_type(input, symbols, context_));
    ir::Value* value = graph->add_input(value_name(scope, input.name()), std::move(type));
    if (!scope.values.emplace(input.name(), value).second)
      return context_.fault("two inputs are called '" + input.name() + "'");
  }
  ATC_TRY(import_initializers(proto, scope, *graph, true));
  for (const auto& node : proto.node()) taken_names_.insert(node.output().begin(), node.output().end());
  ATC_TRY(import_nodes(proto.node(), scope, *graph));
  ATC_TRY(import_outputs(proto, scope, *graph));
  return graph;
}

Status GraphImporter::import_initializers(const onnx::GraphProto& proto, Scope& scope, ir::Graph& graph,
                                          bool is_main) {
  const auto add = [&](const std::string& name, StatusOr<Tensor> tensor) -> Status {
    if (!tensor.ok()) return std::move(tensor).status();
    if (name.empty()) return context_.fault("an initializer has no name");
    ir::Value* value = graph.add_constant(value_name(scope, name), std::move(tensor).value());
    if (!scope.values.emplace(name, value).second)
      return context_.fault("two initializers are called '" + name + "'");
    return {};
  };
  // The caller of a body gives all its inputs, so a default value there has no effect.
  const auto is_hidden = [&](const std::string& name) {
    const auto found = scope.values.find(name);
    return !is_main && found != scope.values.end() && found->second->is_input();
  };
  for (const auto& tensor : proto.initializer())
    if (!is_hidden(tensor.name()))
      ATC_TRY(add(tensor.name(), tensors_.import(tensor, "initializer '" + tensor.name() + "'")));
  for (const auto& tensor : proto.sparse_initializer()) {
    const std::string& name = tensor.values().name();
    if (!is_hidden(name))
      ATC_TRY(add(name, tensors_.import_sparse(tensor, "sparse initializer '" + name + "'")));
  }
  return {};
}

Status GraphImporter::import_outputs(const onnx::GraphProto& proto, Scope& scope, ir::Graph& graph) {
  for (const auto& output : proto.output()) {
    const std::string& name = output.name();
    const auto found = name.empty() ? std::nullopt : scope.find(name);
    if (!found || *found == nullptr)
      return undefined(scope.node_prefix + "output '" + name + "' of graph '" + proto.name() + "'", name,
                       scope);
    ir::Value* value = *found;
    // A body returns values of its own, so that whoever runs or rewrites it need not look outside.
    if (value->graph() != &graph)
      value = add_identity(value, value_name(scope, name), scope.node_prefix + name, scope, graph);
    graph.add_output(value);
  }
  return {};
}

StatusOr<std::shared_ptr<ir::Graph>> GraphImporter::import_body(const onnx::GraphProto& proto,
                                                                const Scope& outer, ir::Graph& parent,
                                                                const std::string& node_prefix) {
  auto graph = std::make_shared<ir::Graph>(proto.name(), &parent);
  Scope scope;
  scope.outer = &outer;
  scope.call = outer.call;
  scope.opsets = outer.opsets;
  scope.value_prefix = outer.value_prefix;
  scope.node_prefix = node_prefix;
  for (const auto& input : proto.input()) {
    ATC_ASSIGN(ir::TensorType type, import_body_input_type(input, context_));
    ir::Value* value = graph->add_input(value_name(scope, input.name()), std::move(type));
    if (!scope.values.emplace(input.name(), value).second)
      return context_.fault("two inputs of graph '" + node_prefix + proto.name() + "' are called '" +
                            input.name() + "'");
  }
  ATC_TRY(import_initializers(proto, scope, *graph, false));
  ATC_TRY(import_nodes(proto.node(), scope, *graph));
  ATC_TRY(import_outputs(proto, scope, *graph));
  return graph;
}

std::string GraphImporter::value_name(const Scope& scope, const std::string& name) {
  if (const auto found = scope.result_names.find(name); found != scope.result_names.end())
    return found->second;
  if (scope.value_prefix.empty()) {
    taken_names_.insert(name);
    return name;
  }
  std::string unique = scope.value_prefix + name;
  for (int i = 2; !taken_names_.insert(unique).second; ++i)
    unique = scope.value_prefix + name + "_" + std::to_string(i);
  return unique;
}

Status GraphImporter::undefined(const std::string& what, std::string_view name, const Scope& scope) const {
  const std::string near = nearest(name, scope.visible_names());
  return context_
      .fault(what + ": no input, initializer or node defines value '" + std::string(name) + "'" +
             (near.empty() ? "" : "; did you mean '" + near + "'?"))
      .cause("The model was cut or edited, or its file is damaged.");
}

}  // namespace atc::frontend
