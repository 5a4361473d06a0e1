#include "passes/view_fusion.h"

#include <algorithm>

#include "ops/element_view.h"
#include "ops/fused_views.h"
#include "ops/in_place.h"
#include "ops/input_parts.h"
#include "ops/move.h"
#include "passes/blocked_channels.h"
#include "passes/format_choice.h"
#include "passes/rewrite.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using ops::InputPart;

// Shorter rows are moved with less effort by one copy for all readers.
constexpr std::int64_t kLeastRowBytes = 32;

bool is_program(const Node& n) { return n.is_internal("Fused"); }

// A conversion to blocks.
bool is_conversion(const Node& n) {
  return n.is_internal("TransData") && !n.attrs.has("packing") &&
         ir::has_channel_blocks(n.output(0)->type.format);
}

bool takes_views(const Node& n) {
  if (is_conversion(n))
    return has_static_shapes(n) && n.input(0)->type.format == ir::Format::ND && ops::copies_input(n);
  if (is_program(n) ? n.attrs.has("reduce_axes") || ops::has_fused_views(n) : !ops::is_concat(n))
    return false;
  if (!has_static_shapes(n)) return false;
  const auto in_rows = [](const Value* v) { return v->type.format == ir::Format::ND; };
  if (!std::ranges::all_of(n.inputs(), in_rows) || !std::ranges::all_of(n.outputs(), in_rows))
    return mixes_formats(n) || stores_small_channels(n);
  return is_program(n) || ops::copies_input(n);
}

// Reads of `v`, through nodes that show it under another shape; nullopt when something else than programs and
// concatenations reads it.
std::optional<std::int64_t> view_reads(const Graph& g, Value* v) {
  if (g.is_output(v)) return std::nullopt;
  std::int64_t reads = 0;
  for (const Value::Use& use : v->uses()) {
    if (use.node->graph() != &g) return std::nullopt;
    if (takes_views(*use.node)) {
      ++reads;
      continue;
    }
    if (use.index != 0 || use.node->outputs().size() != 1 ||
        ops::shown_value(use.node->output(0)) == use.node->output(0))
      return std::nullopt;
    const auto further = view_reads(g, use.node->output(0));
    if (!further) return std::nullopt;
    reads += *further;
  }
  return reads;
}

/// A part of `base`.
struct Source {
  Value* base = nullptr;
  InputPart part;
};

std::optional<Source> source_of(Value* v) {
  const StridedView view = trace_view(v);
  if (view.base != v) return Source{view.base, {view.dims, view.strides, view.offset}};
  // Slices that step backwards.
  const auto element = ops::element_view(*v);
  if (!element) return std::nullopt;
  return Source{v->producer()->input(0), {v->type.dims(), element->strides, element->first}};
}

/// Axes of the part that are longer than 1, neighbours that are walked as one merged.
std::vector<std::pair<std::int64_t, std::int64_t>> walked_axes(const InputPart& p) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // length, stride
  for (std::size_t d = 0; d < p.dims.size(); ++d) {
    if (p.dims[d] == 1) continue;
    if (!axes.empty() && axes.back().second == p.strides[d] * p.dims[d])
      axes.back() = {axes.back().first * p.dims[d], p.strides[d]};
    else
      axes.emplace_back(p.dims[d], p.strides[d]);
  }
  return axes;
}

bool is_worth_it(const Node& reader, const InputPart& p, DType dtype, std::int64_t reads) {
  const auto axes = walked_axes(p);
  if (axes.empty()) return true;
  const std::int64_t all = element_count(p.dims) * bit_width(dtype) / 8;
  const auto row = [&](std::size_t from_end) {
    const auto& [length, stride] = axes[axes.size() - 1 - from_end];
    return stride == 1 ? length * bit_width(dtype) / 8 : 0;
  };
  if (row(0) >= std::min(kLeastRowBytes, all)) return true;
  if (reads > 1) return false;
  // Copies transpose whatever comes. Programs turn tiles whose rows lie along the axis before the last.
  return !is_program(reader) || row(0) > 0 || (axes.size() > 1 && row(1) >= kLeastRowBytes);
}

std::optional<Source> readable_part(const Graph& g, const Node& reader, Value* v, PassContext& context) {
  if (v->type.format != ir::Format::ND) return std::nullopt;
  if (v->producer() == nullptr || v->producer()->graph() != &g || element_count(v->type.dims()) == 0)
    return std::nullopt;
  // What only shows another value costs nothing: the node behind it copies.
  Value* copied = ops::shown_value(v);
  if (copied->producer() == nullptr || copied->is_constant()) return std::nullopt;
  const auto source = source_of(v);
  if (!source || source->base == copied || source->base->type.format != ir::Format::ND ||
      source->base->type.dtype != v->type.dtype)
    return std::nullopt;
  const auto reads = view_reads(g, copied);
  if (!reads) return std::nullopt;
  if (!is_worth_it(reader, source->part, v->type.dtype, *reads)) {
    context.near_miss("view-fusion", *v->producer(),
                      "rows of its part '" + v->name() + "' are shorter than " +
                          std::to_string(kLeastRowBytes) + " bytes: one copy for all readers is cheaper");
    return std::nullopt;
  }
  return source;
}

// The sources of all nodes between a value and what it is read from.
void add_chain_sources(Node& reader, const Value* v, const Value* base) {
  for (; v != base && v->producer() != nullptr; v = v->producer()->input(0))
    add_sources(reader, *v->producer());
}

Node* as_internal_concat(Graph& g, Node& n) {
  if (n.is_internal("Concat")) return &n;
  Node* r = g.add_node("Concat", std::vector<Value*>(n.inputs().begin(), n.inputs().end()), 1, &n, "atc", 0);
  r->name = n.name;
  r->sources = n.sources;
  const std::int64_t axis = n.attrs.get_int("axis", 1), rank = std::ssize(n.output(0)->type.dims());
  r->attrs.set("axis", axis < 0 ? axis + rank : axis);
  r->output(0)->type = n.output(0)->type;
  replace_value(n.output(0), r->output(0));
  g.erase(&n);
  return r;
}

int read_parts_in_place(Graph& g, Node* n, PassContext& context) {
  int changes = 0;
  std::map<std::size_t, InputPart> parts = ops::input_parts(*n);
  for (std::size_t i = 0; i < n->inputs().size(); ++i) {
    if (parts.contains(i)) continue;  // a part of a part keeps its copy
    Value* v = n->input(i);
    const auto source = readable_part(g, *n, v, context);
    if (!source) continue;
    if (ops::is_concat(*n)) n = as_internal_concat(g, *n);
    parts[i] = source->part;
    add_chain_sources(*n, v, source->base);
    n->set_input(i, source->base);
    ++changes;
  }
  if (changes > 0) ops::set_input_parts(*n, parts);
  return changes;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (takes_views(*n)) changes += read_parts_in_place(graph, n, context);
  return changes;
}

}  // namespace

Pass view_fusion_pass() {
  return {"view-fusion", "", "programs and concatenations read the parts that others show where they lie",
          run};
}

}  // namespace atc::passes
