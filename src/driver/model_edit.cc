#include "driver/model_edit.h"

#include <algorithm>
#include <utility>

#include "atc/base/strings.h"

namespace atc::driver {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  const std::string near = nearest(text, names);
  if (!near.empty()) return "did you mean '" + near + "'?";
  const std::size_t shown = std::min<std::size_t>(names.size(), 8);
  return "the model has " + join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ") +
         (shown < names.size() ? ", ..." : "");
}

StatusOr<Value*> find_output(Graph& graph, const OutNode& wanted) {
  // A tensor's own name wins: it may end in ":0" itself.
  for (Value* v : graph.outputs())
    if (v->name() == wanted.text) return v;
  std::vector<std::string> names;
  for (const auto& n : graph.nodes()) {
    for (Value* v : n->outputs())
      if (v != nullptr && v->name() == wanted.text) return v;
    if (!n->name.empty()) names.push_back(n->name);
    if (!wanted.index || n->name != wanted.name) continue;
    if (*wanted.index < 0 || *wanted.index >= std::ssize(n->outputs()) ||
        n->output(static_cast<std::size_t>(*wanted.index)) == nullptr)
      return Status::error(
          "E10001", "Value " + wanted.text + " for parameter --out_nodes is invalid. Reason: node " +
                        n->label() + " has " + std::to_string(n->outputs().size()) + " output(s), index " +
                        std::to_string(*wanted.index) + " is not one of them");
    return n->output(static_cast<std::size_t>(*wanted.index));
  }
  for (const Value* v : graph.outputs()) names.push_back(v->name());
  const std::string given = wanted.index ? wanted.name : wanted.text;
  const bool lacks_index = !wanted.index && std::find(names.begin(), names.end(), given) != names.end();
  return Status::error("E11017",
                       "Failed to find node " + given + " that is specified by --out_nodes in the model")
      .solution("Name a node of the model as node:index, or one of its outputs; " +
                (lacks_index ? "did you mean '" + given + ":0'?" : did_you_mean(given, names)));
}

Node* cast_node(Graph& graph, Value* v, DType to) {
  Node* cast = graph.add_node("Cast", {v}, 1, nullptr, {}, 13);
  cast->attrs.set("to", static_cast<std::int64_t>(to));
  cast->name = v->name() + "/output_type";
  if (v->producer() != nullptr) cast->sources = v->producer()->sources;
  return cast;
}

}  // namespace

Status select_outputs(Graph& graph, const std::vector<OutNode>& out_nodes) {
  if (out_nodes.empty()) return {};
  std::vector<Value*> selected;
  for (const OutNode& o : out_nodes) {
    ATC_ASSIGN(Value * v, find_output(graph, o));
    selected.push_back(v);
  }
  graph.clear_outputs();
  for (Value* v : selected) graph.add_output(v);
  return {};
}

Status narrow_inputs(Graph& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Value* input = nullptr;
    std::vector<std::string> all;
    for (Value* v : graph.inputs()) {
      all.push_back(v->name());
      if (v->name() == name) input = v;
    }
    if (input == nullptr)
      return Status::error("E10016",
                           "Opname " + name + " specified in --input_fp16_nodes is not found in the model")
          .solution("The option names inputs of the model, separated by ';'; " + did_you_mean(name, all));
    if (input->type.dtype == DType::F16) continue;
    if (input->type.dtype != DType::F32)
      return Status::error(
          "E10001", "Value " + name + " for parameter --input_fp16_nodes is invalid. Reason: the input is " +
                        std::string(onnx_name(input->type.dtype)) + ", only FLOAT inputs can be fp16");
    // The model goes on with what it expects.
    input->type.dtype = DType::F16;
    Node* first = graph.nodes().empty() ? nullptr : graph.nodes().front().get();
    Node* wide = graph.add_node("Cast", {}, 1, first, {}, 13);
    wide->attrs.set("to", static_cast<std::int64_t>(DType::F32));
    wide->name = name + "/input_fp16";
    // An input that is also an output keeps its name as an output.
    const auto outputs = graph.outputs();
    const bool is_output = std::find(outputs.begin(), outputs.end(), input) != outputs.end();
    wide->output(0)->set_name(is_output ? name : name + "/fp32");
    graph.replace_uses(input, wide->output(0));
    wide->set_input(0, input);
  }
  return {};
}

Status cast_outputs(Graph& graph, const std::vector<OutputType>& types,
                    const std::vector<OutNode>& out_nodes) {
  for (const OutputType& t : types) {
    bool found = t.node.empty();
    std::vector<std::pair<Value*, Value*>> casts;  // of values that are outputs more than once
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      if (!t.node.empty() &&
          (i >= out_nodes.size() || out_nodes[i].name != t.node || out_nodes[i].index.value_or(0) != t.index))
        continue;
      found = true;
      Value* v = graph.outputs()[i];
      if (v->type.dtype == t.dtype) continue;
      const auto done = std::find_if(casts.begin(), casts.end(), [&](const auto& c) { return c.first == v; });
      if (done != casts.end()) {
        graph.set_output(i, done->second);
        continue;
      }
      const std::string name = v->name();
      Node* cast = cast_node(graph, v, t.dtype);
      if (v->producer() != nullptr) v->set_name(name + "/before_output_type");
      cast->output(0)->set_name(name);
      graph.set_output(i, cast->output(0));
      casts.emplace_back(v, cast->output(0));
    }
    if (!found)
      return Status::error(
          "E10001", "Value " + t.node + ":" + std::to_string(t.index) +
                        " for parameter --output_type is invalid. Reason: the node is not in --out_nodes");
  }
  return {};
}

}  // namespace atc::driver
