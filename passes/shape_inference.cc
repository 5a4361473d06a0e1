#include "passes/shape_inference.h"

#include <algorithm>
#include <charconv>

#include "atc/base/check.h"
#include "ops/op.h"
#include "passes/operator_check.h"

namespace atc::passes {

bool has_possible_size(const ir::TensorType& type) {
  if (!type.is_static()) return true;
  const std::int64_t count = element_count(type.dims());
  return count >= 0 && count <= kMaxElements;
}

ShapeInference::ShapeInference(const ir::Graph& root) {
  // Fresh symbols are "?0", "?1", ...: above those that the inputs already have.
  for (const ir::Value* v : root.inputs()) {
    if (!v->type.shape) continue;
    for (const ir::Dim& d : *v->type.shape) {
      long n = 0;
      const char* end = d.symbol.data() + d.symbol.size();
      if (!d.symbol.starts_with('?')) continue;
      const auto read = std::from_chars(d.symbol.data() + 1, end, n);
      if (read.ec == std::errc() && read.ptr == end) next_symbol_ = std::max(next_symbol_, n + 1);
    }
  }
}

const ir::Shape* ShapeInference::elements(const ir::Value* v) const {
  const auto it = elements_.find(v);
  return it == elements_.end() ? nullptr : &it->second;
}

Status ShapeInference::infer(ir::Node& node) {
  const ops::OpDef* def = ops::Registry::instance().find(node);
  ATC_CHECK(def != nullptr && def->infer != nullptr,
            "shape inference of the unknown operator " + node.label());
  ATC_TRY(ops::check_schema(node, *def));

  ops::InferContext context(node);
  context.lookup_dims = [this](const ir::Value* v) -> std::optional<ir::Shape> {
    const ir::Shape* known = elements(v);
    return known == nullptr ? std::nullopt : std::optional<ir::Shape>(*known);
  };
  context.next_symbol = [this] { return "?" + std::to_string(next_symbol_++); };
  context.infer_subgraph = [this](ir::Graph& body) -> Status {
    ATC_TRY(check_operators(body, Conditionals::Skip));
    return infer(body);
  };
  ATC_TRY(def->infer(context));
  consulted_ = context.consulted();

  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    ir::Value* v = node.output(i);
    if (v == nullptr) continue;
    ATC_CHECK(context.outputs[i].has_value() || !node.graph()->is_used(v),
              "shape inference of " + node.label() + " says nothing of output " + std::to_string(i));
    ir::TensorType type = context.outputs[i].value_or(ir::TensorType{});
    if (!has_possible_size(type))
      return context.error("output " + std::to_string(i) + " '" + v->name() + "' would have the shape [" +
                           ir::to_string(*type.shape) + "], too many elements for any memory");
    type.format = v->type.format;
    if (type != v->type) {
      v->type = std::move(type);
      ++changes_;
    }
    if (context.dims_values[i])
      elements_[v] = *std::move(context.dims_values[i]);
    else
      elements_.erase(v);
  }
  return {};
}

Status ShapeInference::infer(ir::Graph& graph) {
  for (const auto& node : graph.nodes()) ATC_TRY(infer(*node));
  return {};
}

}  // namespace atc::passes
