#include "driver/customized_types.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "atc/base/strings.h"
#include "driver/option_errors.h"
#include "passes/bind_shapes.h"
#include "passes/infer_shapes.h"

namespace atc::driver {
namespace {

using ir::Node;
using ir::Value;

// As files and messages spell types.
std::string spelled(DType dtype) {
  std::string out(onnx_name(dtype));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out == "float" ? "float32" : out;
}

void collect(const ir::Graph& graph, std::vector<const Node*>& out) {
  for (const auto& n : graph.nodes()) {
    out.push_back(n.get());
    for (const auto& body : ir::subgraphs(*n)) collect(*body, out);
  }
}

std::string shown(const Node& n) {
  return n.name.empty() ? "an unnamed node (" + n.op_type + ")"
                        : "node '" + printable(n.name) + "' (" + n.op_type + ")";
}

// What a quantised model keeps behind the input, or stores of the output.
std::vector<DType> quantised_types(const Value& v, bool is_input) {
  std::vector<DType> out;
  if (is_input && v.producer() != nullptr && v.producer()->is("DequantizeLinear"))
    out.push_back(v.producer()->input(0)->type.dtype);
  if (!is_input)
    for (const Value::Use& use : v.uses())
      if (use.node->is("QuantizeLinear")) out.push_back(use.node->output(0)->type.dtype);
  return out;
}

/// Why the value cannot have the type; "" where it can or is not typed.
std::string type_fault(const Value* v, DType asked, DType narrow, bool is_input) {
  if (v == nullptr || v->type.dtype == DType::Undefined || v->type.dtype == asked) return {};
  const DType own = v->type.dtype;
  // Indices are int32 in ATC's operators.
  if ((is_float(own) && is_float(asked)) || (own == DType::I64 && asked == DType::I32)) return {};
  if (!is_float(own)) return " is " + spelled(own) + " in the model and keeps that type";
  const std::vector<DType> quantised = quantised_types(*v, is_input);
  if (std::find(quantised.begin(), quantised.end(), asked) != quantised.end()) return {};
  return " is " + spelled(own) + " in the model and can be " + spelled(narrow) + " or " +
         spelled(DType::F32) + ", not " + spelled(asked) + ": integers come from quantising the model";
}

std::string list_fault(const Node& n, const std::vector<Value*>& values, const std::vector<DType>& types,
                       DType narrow, bool is_input) {
  const std::string kind = is_input ? "input" : "output";
  if (types.size() > values.size())
    return shown(n) + " has " + std::to_string(values.size()) + " " + kind + (values.size() == 1 ? "" : "s") +
           ", but " + (is_input ? "InputDtype" : "OutputDtype") + " lists " + std::to_string(types.size()) +
           " types";
  for (std::size_t i = 0; i < types.size(); ++i)
    if (const std::string why = type_fault(values[i], types[i], narrow, is_input); !why.empty())
      return kind + " " + std::to_string(i) + " of " + shown(n) + why;
  return {};
}

/// Why none of the operands of a written-out operator can have the types. All of them are floating; which
/// comes first is the matter of the operator they stand for.
std::string form_fault(const PrecisionEntry& entry, const WrittenForm& form) {
  const std::set<const Node*> inside(form.nodes.begin(), form.nodes.end());
  std::set<const Value*> read;
  for (const Node* n : form.nodes)
    for (const Value* v : n->inputs())
      if (v != nullptr && !inside.contains(v->producer())) read.insert(v);
  for (const auto* types : {&entry.asked.inputs, &entry.asked.outputs})
    for (const DType t : *types)
      if (!is_float(t))
        return "the operands of " + form.type + " can be " + spelled(entry.narrow) + " or " +
               spelled(DType::F32) + ", not " + spelled(t);
  if (entry.asked.inputs.size() > read.size())
    return form.type + " has at most " + std::to_string(read.size()) + " inputs here, but InputDtype lists " +
           std::to_string(entry.asked.inputs.size()) + " types";
  return {};
}

}  // namespace

std::vector<const Node*> all_nodes(const ir::Graph& graph) {
  std::vector<const Node*> out;
  collect(graph, out);
  return out;
}

CustomizedTypes::CustomizedTypes(const ir::Graph& graph,
                                 const std::map<std::string, std::vector<std::int64_t>>& input_shapes)
    : typed_(graph.clone()) {
  const std::vector<const Node*> from = all_nodes(graph), to = all_nodes(*typed_);
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) copy_of_.emplace(from[i], to[i]);
  // Where these fail, what was typed until then is checked.
  if (passes::bind_input_shapes(*typed_, input_shapes, "input_shape").ok())
    static_cast<void>(passes::infer_shapes(*typed_).ok());
}

std::string CustomizedTypes::fault_of(const PrecisionEntry& entry, const Node& node) const {
  const auto found = copy_of_.find(&node);
  if (found == copy_of_.end()) return {};
  const Node& n = *found->second;
  const std::string why =
      list_fault(n, {n.inputs().begin(), n.inputs().end()}, entry.asked.inputs, entry.narrow, true);
  return !why.empty() ? why
                      : list_fault(n, {n.outputs().begin(), n.outputs().end()}, entry.asked.outputs,
                                   entry.narrow, false);
}

Status CustomizedTypes::check(const PrecisionEntry& entry, const std::vector<const Node*>& nodes,
                              const std::vector<const WrittenForm*>& forms) const {
  if (entry.asked.inputs.empty() && entry.asked.outputs.empty()) return {};
  std::string first;
  // A type may name operators of several signatures: one that fits is what was meant.
  for (const Node* n : nodes) {
    const std::string why = fault_of(entry, *n);
    if (why.empty()) return {};
    if (first.empty()) first = why;
  }
  for (const WrittenForm* form : forms) {
    const std::string why = form_fault(entry, *form);
    if (why.empty()) return {};
    if (first.empty()) first = why;
  }
  if (first.empty()) return {};
  return invalid_value("E10001", "customize_dtypes", entry.file, entry.place + ": " + first)
      .solution("List at most the types of the operator's own inputs and outputs in the model, in order.");
}

}  // namespace atc::driver
