#include "passes/view_fusion.h"

#include <algorithm>
#include <set>

#include "ops/element_view.h"
#include "ops/fused_views.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// Shorter rows are moved with less effort by one copy for all readers.
constexpr std::int64_t kLeastRowBytes = 32;

bool takes_views(const Node& n) {
  if (!n.is_internal("Fused") || n.attrs.has("reduce_axes") || ops::has_fused_views(n) ||
      !has_static_shapes(n))
    return false;
  const auto in_rows = [](const Value* v) { return v->type.format == ir::Format::ND; };
  return std::ranges::all_of(n.inputs(), in_rows) && std::ranges::all_of(n.outputs(), in_rows);
}

// Bytes that lie side by side at each position of the outer axes; all of them when there are none.
std::int64_t row_bytes(const Dims& dims, const Dims& strides, DType dtype) {
  std::int64_t run = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] == 1) continue;
    if (strides[d] != run) break;
    run *= dims[d];
  }
  return run * bit_width(dtype) / 8;
}

bool is_readable_part(const Graph& g, const Value& part) {
  const Node* maker = part.producer();
  if (g.is_output(&part) || !has_static_shapes(*maker) || maker->input(0)->type.format != ir::Format::ND ||
      maker->input(0)->type.dtype != part.type.dtype || element_count(part.type.dims()) == 0)
    return false;
  return std::ranges::all_of(part.uses(), [](const Value::Use& use) { return takes_views(*use.node); });
}

// Inputs that are parts already; a part of a part keeps its copy.
std::set<std::size_t> viewed_inputs(const Dims& parts) {
  std::set<std::size_t> inputs;
  for (std::size_t at = 0; at + 1 < parts.size(); at += 3 + 2 * static_cast<std::size_t>(parts[at + 1]))
    inputs.insert(static_cast<std::size_t>(parts[at]));
  return inputs;
}

int read_parts_in_place(Graph& g, Node& n) {
  int changes = 0;
  Dims parts = n.attrs.get_ints("parts");
  const std::set<std::size_t> viewed = viewed_inputs(parts);
  for (std::size_t i = 0; i < n.inputs().size(); ++i) {
    Value* part = n.input(i);
    if (viewed.contains(i)) continue;
    const auto view = ops::element_view(*part);
    if (!view || !is_readable_part(g, *part)) continue;
    const Dims dims = part->type.dims();
    if (row_bytes(dims, view->strides, part->type.dtype) <
        std::min(kLeastRowBytes, element_count(dims) * bit_width(part->type.dtype) / 8))
      continue;
    parts.insert(parts.end(), {static_cast<std::int64_t>(i), std::ssize(dims), view->first});
    parts.insert(parts.end(), dims.begin(), dims.end());
    parts.insert(parts.end(), view->strides.begin(), view->strides.end());
    add_sources(n, *part->producer());
    n.set_input(i, part->producer()->input(0));
    ++changes;
  }
  if (changes > 0) n.attrs.set("parts", parts);
  return changes;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (takes_views(*n)) changes += read_parts_in_place(graph, *n);
  return changes;
}

}  // namespace

Pass view_fusion_pass() {
  return {"view-fusion", "", "vector programs read the parts of Slice and Split where they lie", run};
}

}  // namespace atc::passes
