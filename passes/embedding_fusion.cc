#include "passes/embedding_fusion.h"

#include <algorithm>

#include "ops/body.h"
#include "ops/fused_views.h"
#include "ops/input_parts.h"
#include "ops/op.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr const char* kGathers = "gathers";
constexpr std::int64_t kLeastRowBytes = 64;

bool is_in_rows(const Value* v) { return v->type.is_static() && v->type.format == ir::Format::ND; }

/// A program over the space `rows` + one axis, which it reduces or not.
bool takes_rows(const Node& n, const Dims& space) {
  if (!n.is_internal("Fused") || ops::has_fused_views(n) || !ops::input_parts(n).empty()) return false;
  if (!std::ranges::all_of(n.inputs(), is_in_rows) || !std::ranges::all_of(n.outputs(), is_in_rows))
    return false;
  const Dims axes = n.attrs.get_ints("reduce_axes");
  if (!axes.empty() && (axes.size() > 1 || axes[0] != std::ssize(space) - 1)) return false;
  // Nothing is larger than the gathered rows.
  const auto body = n.attrs.get_graph("body");
  const auto fits = [&](const Value* v) {
    const Dims dims = v->type.dims();
    if (dims.size() > space.size()) return false;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (dims[dims.size() - 1 - d] != 1 && dims[dims.size() - 1 - d] != space[space.size() - 1 - d])
        return false;
    return true;
  };
  return std::ranges::all_of(body->inputs(), fits) && std::ranges::all_of(body->outputs(), fits);
}

bool is_row_gather(const Graph& g, const Value* v) {
  const Node* n = v->producer();
  if (n == nullptr || n->graph() != &g || !n->is("Gather") || !has_static_shapes(*n) || !is_private(v))
    return false;
  const Value *table = n->input(0), *index = n->input(1);
  const Dims dims = table->type.dims();
  if (dims.size() != 2 || ops::normalize_axis(n->attrs.get_int("axis", 0), 2) != 0) return false;
  if (index->type.dtype != DType::I32 && index->type.dtype != DType::I64) return false;
  if (!is_in_rows(table) || !is_in_rows(index) || table->type.dtype != v->type.dtype) return false;
  return dims[1] * bit_width(table->type.dtype) / 8 >= kLeastRowBytes && element_count(v->type.dims()) > 0 &&
         v->type.dims().size() >= 2;
}

int take_rows(Graph& g, Node& n) {
  int taken = 0;
  const std::size_t inputs = n.attrs.get_graph("body")->inputs().size();
  for (std::size_t i = 0; i < inputs; ++i) {
    Value* v = n.input(i);
    if (v == nullptr || !is_row_gather(g, v) || !takes_rows(n, v->type.dims())) continue;
    Node* gather = v->producer();
    Value *table = gather->input(0), *index = gather->input(1);
    Dims gathers = n.attrs.get_ints(kGathers);
    gathers.insert(gathers.end(), {static_cast<std::int64_t>(i), std::ssize(n.inputs())});
    add_sources(n, *gather);
    n.set_input(i, table);
    n.add_input(index);
    n.attrs.set(kGathers, std::move(gathers));
    g.erase(gather);
    ++taken;
  }
  if (taken == 0) return 0;
  std::string label = n.attrs.get_string("label", "");
  if (label.empty())
    for (const auto& inner : n.attrs.get_graph("body")->nodes())
      label += (label.empty() ? "" : "+") + inner->op_type;
  n.attrs.set("label", "Gather+" + label);
  return taken;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is_internal("Fused")) changes += take_rows(graph, *n);
  return changes;
}

}  // namespace

Pass embedding_fusion_pass() {
  return {"embedding-fusion", "", "programs gather the rows of tables that they add and normalize", run};
}

}  // namespace atc::passes
