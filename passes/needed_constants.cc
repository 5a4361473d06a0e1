#include "passes/needed_constants.h"

#include <algorithm>
#include <array>

#include "ops/op.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

bool is_in(const auto& list, std::string_view type) {
  return std::find(list.begin(), list.end(), type) != list.end();
}

/// All inputs are data: operators that are not elementwise but take what is computed in any of them.
bool takes_data_everywhere(const Node& n) {
  static constexpr std::array<std::string_view, 4> kTypes = {"Concat", "Einsum", "Gemm", "MatMul"};
  return is_in(kTypes, n.op_type);
}

/// Integers or truth values of floats.
bool leaves_floats(const Node& n) {
  static constexpr std::array<std::string_view, 14> kTypes = {
      "ArgMax", "ArgMin", "DynamicQuantizeLinear", "Equal", "Greater", "GreaterOrEqual",
      "IsInf",  "IsNaN",  "LessOrEqual",           "Less",  "NonZero", "Shape",
      "Size",   "TopK"};
  if (n.is("Cast")) return !is_float(static_cast<DType>(n.attrs.get_int("to", 0)));
  return n.is("CastLike") || n.is("QuantizeLinear") || is_in(kTypes, n.op_type);
}

bool has_kernel(const Node& n) {
  const ops::OpDef* def = ops::Registry::instance().find(n);
  return def != nullptr && (def->vector != nullptr || def->lower != nullptr);
}

bool is_one_number(const Value* v) {
  return v != nullptr && v->type.is_static() && element_count(v->type.dims()) <= 1;
}

}  // namespace

NeededConstants::NeededConstants(const ir::Graph& graph) : graph_(graph) {
  for (const auto& n : graph.nodes())
    if (std::all_of(n->inputs().begin(), n->inputs().end(), [&](const Value* v) {
          return v == nullptr || v->is_constant() || derived_.contains(v->producer());
        }))
      derived_.insert(n.get());
  for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
    const Node* n = it->get();
    if (!derived_.contains(n)) continue;
    for (const Value* v : n->outputs())
      if (v != nullptr && std::any_of(v->uses().begin(), v->uses().end(),
                                      [&](const Value::Use& use) { return is_parameter(use); }))
        needed_.insert(n);
  }
}

bool NeededConstants::is_parameter(const Value::Use& use) const {
  const Node& n = *use.node;
  // What a nested graph does with it is not looked at.
  if (n.graph() != &graph_ || !ir::subgraphs(n).empty()) return true;
  if (derived_.contains(&n)) return needed_.contains(&n) || leaves_floats(n) || !has_kernel(n);
  if (use.index == 0 || takes_data_everywhere(n)) return false;
  const ops::OpDef* def = ops::Registry::instance().find(n);
  return def == nullptr || def->vector == nullptr || n.is("Clip") || n.op_type.ends_with("QuantizeLinear") ||
         n.op_type.ends_with("DequantizeLinear");
}

bool NeededConstants::contains(const Node& n) const {
  if (!derived_.contains(&n) || needed_.contains(&n) || !has_kernel(n)) return true;
  return std::any_of(n.outputs().begin(), n.outputs().end(), [](const Value* v) {
    return v != nullptr && (!is_float(v->type.dtype) || is_one_number(v));
  });
}

}  // namespace atc::passes
