#include "passes/concat_views.h"

#include <algorithm>

#include "ops/move.h"
#include "passes/rewrite.h"
#include "passes/rules.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "StridedSliceConcatFusionPass";

bool is_rows(const Value* v) { return v->type.format == ir::Format::ND && v->type.is_static(); }

bool is_candidate(const Node& n) {
  return n.is("Concat") && has_static_shapes(n) && is_rows(n.output(0)) && ops::copies_input(n) &&
         element_count(n.output(0)->type.dims()) > 0 && std::ranges::all_of(n.inputs(), is_rows);
}

bool only_concats_read(const Value* v) {
  return !v->graph()->is_output(v) &&
         std::ranges::all_of(v->uses(), [](const Value::Use& use) { return is_candidate(*use.node); });
}

// The copies between `v` and what it is a view of are made for Concats alone; `copies` counts them.
bool spares_copies(const Value* v, const Value* base, int& copies) {
  bool first = true;
  for (; v != base; first = false) {
    const Node* n = v->producer();
    if (!is_rows(n->input(0))) return false;
    if (n->is("Split")) {
      for (const Value* part : n->outputs())
        if (part == nullptr || (part != v && !only_concats_read(part))) return false;
    }
    if (first ? !only_concats_read(v) : !is_private(v)) return false;
    copies += is_reshape(*n) || n->is("Identity") ? 0 : 1;
    v = n->input(0);
  }
  return true;
}

// A part as it is read; as it stands where nothing is spared.
StridedView view_of(Value* part, bool& spares) {
  const StridedView view = trace_view(part);
  int copies = 0;
  if (view.base == part || view.base->type.dtype != part->type.dtype ||
      !spares_copies(part, view.base, copies) || copies == 0)
    return whole_view(part);
  spares = true;
  return view;
}

bool read_in_place(Graph& g, Node& n) {
  const std::size_t rank = n.output(0)->type.shape->size();
  const auto axis = axis_of(n, 1, rank);
  if (!axis) return false;
  bool spares = false;
  std::vector<Value*> inputs;
  Dims parts;
  for (Value* part : n.inputs()) {
    if (element_count(part->type.dims()) == 0) continue;
    const StridedView view = view_of(part, spares);
    inputs.push_back(view.base);
    parts.push_back(view.offset);
    parts.insert(parts.end(), view.dims.begin(), view.dims.end());
    parts.insert(parts.end(), view.strides.begin(), view.strides.end());
  }
  if (!spares) return false;
  Node* joined = g.add_node("ConcatViews", std::move(inputs), 1, &n, "atc", 0);
  joined->name = n.name;
  joined->sources = n.sources;
  for (const Value* part : n.inputs())
    if (part->producer() != nullptr && part->producer()->domain.empty() &&
        std::ranges::find(joined->inputs(), part) == joined->inputs().end())
      add_sources(*joined, *part->producer());
  joined->attrs.set("axis", static_cast<std::int64_t>(*axis));
  joined->attrs.set("parts", parts);
  joined->output(0)->type = n.output(0)->type;
  replace_value(n.output(0), joined->output(0));
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  // All of them are looked at as they stand: what one reads in place, another must still be seen to read.
  std::vector<Node*> concats;
  for (Node* n : graph.node_list())
    if (is_candidate(*n)) concats.push_back(n);
  int changes = 0;
  for (Node* n : concats) {
    if (!read_in_place(graph, *n)) continue;
    context.fusions.matched(FusionKind::Graph, kAtcName);
    context.fusions.effected(FusionKind::Graph, kAtcName);
    ++changes;
  }
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass concat_views_pass() {
  return {"concat-views", kAtcName, "Concats read parts of other values where they lie", run};
}

}  // namespace atc::passes
