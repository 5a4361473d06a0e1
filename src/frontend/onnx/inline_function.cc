// Calls of model-local functions: part of GraphImporter.
#include <algorithm>

#include "frontend/onnx/graph_import.h"
#include "frontend/onnx/names.h"
#include "frontend/onnx/proto.h"

namespace atc::frontend {
namespace {

constexpr int kMaxDepth = 128;
/// More than any network has, and far less than would fill the memory.
constexpr std::size_t kMaxNodes = std::size_t{1} << 20;

}  // namespace

Status GraphImporter::enter(const std::string& label) {
  if (++depth_ <= kMaxDepth) return {};
  const auto begin =
      calls_.empty() ? calls_.end() : std::find(calls_.begin(), calls_.end() - 1, calls_.back());
  if (begin == calls_.end() || begin == calls_.end() - 1)
    return context_.fault(label + ": function calls and subgraphs are nested more than " +
                          std::to_string(kMaxDepth) + " deep");
  // The shortest period of the call stack is the recursion.
  const auto last = std::find(calls_.rbegin() + 1, calls_.rend(), calls_.back());
  std::string path = (*last)->label;
  for (auto it = last.base(); it != calls_.end(); ++it) path += " -> " + (*it)->label;
  return context_.fault("model-local functions call themselves: " + path);
}

Status GraphImporter::check_growth(std::size_t nodes, const std::string& label) const {
  if (nodes <= kMaxNodes && node_count_ <= kMaxNodes - nodes) return {};
  return context_.fault(label + ": the graph has more than " + std::to_string(kMaxNodes) +
                        " nodes once its functions are inlined");
}

Status GraphImporter::inline_call(const Function& function, const onnx::NodeProto& node, int index,
                                  Scope& caller, ir::Graph& graph) {
  const std::string label = node_label(node, caller.node_prefix, index);
  ATC_TRY(check_growth(functions_.expanded_nodes(function), label));
  calls_.push_back(&function);
  ATC_TRY(enter(label));

  Call call;
  call.function = &function;
  Scope body;
  body.call = &call;
  body.opsets = &function.opsets;
  body.node_prefix = caller.node_prefix + node_tag(node, index) + "/";
  // Without the place in a body: its nodes keep their names too.
  body.value_prefix = caller.value_prefix + node_tag(node, index) + "/";
  for (const auto& [name, value] : function.defaults) call.attributes[name] = {value.get(), &body};
  for (const auto& attribute : node.attribute()) {
    ATC_ASSIGN(const BoundAttribute bound, resolve(attribute, label, caller));
    if (bound.proto != nullptr) call.attributes[attribute.name()] = bound;
  }
  ATC_TRY(bind_arguments(node, label, caller, body));
  ATC_TRY(import_nodes(function.proto->node(), body, graph));
  ATC_TRY(bind_results(node, label, caller, body, graph));

  --depth_;
  calls_.pop_back();
  return {};
}

Status GraphImporter::bind_arguments(const onnx::NodeProto& node, const std::string& label, Scope& caller,
                                     Scope& body) {
  const Function& function = *body.call->function;
  const auto& formals = function.proto->input();
  const auto& results = function.proto->output();
  if (node.input_size() > formals.size() || node.output_size() > results.size())
    return context_.fault(label + " has " + std::to_string(node.input_size()) + " inputs and " +
                          std::to_string(node.output_size()) + " outputs, but function '" + function.label +
                          "' has " + std::to_string(formals.size()) + " and " +
                          std::to_string(results.size()));
  ATC_ASSIGN(const std::vector<ir::Value*> arguments, node_inputs(node, label, caller));
  for (int i = 0; i < formals.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    ir::Value* argument = at < arguments.size() ? arguments[at] : nullptr;
    if (!body.values.emplace(formals.Get(i), argument).second)
      return context_.fault("function '" + function.label + "' has two inputs called '" + formals.Get(i) +
                            "'");
  }
  // A result that a node of the body makes gets the caller's name at once.
  for (int i = 0; i < node.output_size(); ++i)
    if (!node.output(i).empty() && !body.values.contains(results.Get(i)) &&
        !body.result_names.contains(results.Get(i)))
      body.result_names.emplace(results.Get(i), value_name(caller, node.output(i)));
  return {};
}

Status GraphImporter::bind_results(const onnx::NodeProto& node, const std::string& label, Scope& caller,
                                   Scope& body, ir::Graph& graph) {
  const Function& function = *body.call->function;
  std::unordered_set<const ir::Value*> bound;
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const std::string& formal = function.proto->output(i);
    const auto found = body.find(formal);
    if (!found)
      return undefined(label + ", result " + std::to_string(i) + " of function '" + function.label + "'",
                       formal, body);
    ir::Value* value = *found;
    // An argument that is returned as it is, or a result returned twice, has another name already.
    const bool made_here = body.result_names.contains(formal) && bound.insert(value).second;
    if (value != nullptr && !made_here)
      value = add_identity(value, value_name(caller, node.output(i)), body.node_prefix + formal, body, graph);
    caller.values.emplace(node.output(i), value);
  }
  return {};
}

ir::Value* GraphImporter::add_identity(ir::Value* from, std::string name, const std::string& source,
                                       const Scope& scope, ir::Graph& graph) {
  // Identity means the same in every opset, so a missing import of the default domain does not matter.
  int version = 1;
  for (const Opsets* opsets : {&model_opsets_, scope.opsets})
    if (const auto found = opsets->find(std::string_view()); found != opsets->end() && found->second > 0)
      version = found->second;
  ir::Node* node = graph.add_node("Identity", {from}, 0, nullptr, {}, version);
  node->sources = {source};
  return graph.add_output_value(node, std::move(name));
}

}  // namespace atc::frontend
