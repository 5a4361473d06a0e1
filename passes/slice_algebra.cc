#include "passes/slice_algebra.h"

#include <algorithm>
#include <array>

#include "ops/move.h"
#include "passes/axis_slices.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// More readers of one value are not searched for parts that make it up.
constexpr std::size_t kMaxReaders = 64;
// A Split opens work for the other rules at most a few times.
constexpr int kMaxRounds = 8;

const Node* static_producer(const Value* v, std::string_view op) {
  const Node* n = v->producer();
  return n != nullptr && n->is(op) && has_static_shapes(*n) ? n : nullptr;
}

// `from` of `x` in place of the node's output.
bool take(Graph& g, Node& n, Value* x, const AxisSlices& from) {
  if (from.counts == x->type.dims() && !can_replace(n.output(0), x)) return false;
  const Node* old = n.input(0)->producer();
  Value* y = make_slice(g, n, x, from);
  if (old != nullptr && y != x) add_sources(*y->producer(), *old);
  return replace_output(n, 0, y);
}

bool merge_slices(Graph& g, Node& n) {
  const auto outer = slices_of(n);
  if (!outer) return false;
  if (const Node* inner = static_producer(n.input(0), "Slice")) {
    const auto s = slices_of(*inner);
    return s && take(g, n, inner->input(0), composed(*s, *outer));
  }
  const Node* split = static_producer(n.input(0), "Split");
  const auto part = split == nullptr ? std::nullopt : piece_of(*n.input(0));
  if (!part) return false;
  AxisSlices inner = whole(part->whole->type.dims());
  inner.starts[part->axis] = part->start;
  return take(g, n, part->whole, composed(inner, *outer));
}

bool slice_of_concat(Graph& g, Node& n) {
  const auto s = slices_of(n);
  const Node* concat = s ? static_producer(n.input(0), "Concat") : nullptr;
  if (concat == nullptr) return false;
  const auto axis = axis_of(*concat, 1, s->starts.size());
  if (!axis) return false;
  const std::int64_t a = s->starts[*axis], b = a + s->steps[*axis] * (s->counts[*axis] - 1);
  std::int64_t at = 0;
  for (Value* part : concat->inputs()) {
    const std::int64_t end = at + part->type.dims()[*axis];
    if (std::min(a, b) >= at && std::max(a, b) < end) {
      AxisSlices inside = *s;
      inside.starts[*axis] -= at;
      return take(g, n, part, inside);
    }
    at = end;
  }
  return false;
}

bool split_of_concat(Graph&, Node& n) {
  if (!n.is("Split")) return false;
  const Node* concat = static_producer(n.input(0), "Concat");
  if (concat == nullptr || concat->inputs().size() != n.outputs().size()) return false;
  const std::size_t rank = n.input(0)->type.shape->size();
  if (axis_of(n, 0, rank) != axis_of(*concat, 1, rank)) return false;
  for (std::size_t i = 0; i < n.outputs().size(); ++i) {
    const Value *part = n.output(i), *from = concat->input(i);
    if (part == nullptr || part->type != from->type || !can_replace(part, from)) return false;
    // Two parts of one name: see can_replace.
    for (std::size_t k = 0; k < i; ++k)
      if (concat->input(k) == from && n.graph()->is_output(part)) return false;
  }
  for (std::size_t i = 0; i < n.outputs().size(); ++i) replace_output(n, i, concat->input(i));
  return true;
}

// Inputs of a Concat, those of a Concat that only this one reads in its place, without empty ones.
std::vector<Value*> flattened(const Node& n, std::size_t axis, std::size_t rank) {
  std::vector<Value*> out;
  for (Value* v : n.inputs()) {
    const Node* inner = static_producer(v, "Concat");
    if (inner != nullptr && is_private(v) && axis_of(*inner, 1, rank) == axis)
      out.insert(out.end(), inner->inputs().begin(), inner->inputs().end());
    else
      out.push_back(v);
  }
  std::erase_if(out, [&](const Value* v) { return v->type.dims()[axis] == 0; });
  return out;
}

// Neighbours that lie beside each other in one value become one piece of it.
std::vector<Value*> rejoined(Graph& g, Node& n, const std::vector<Value*>& parts, std::size_t axis) {
  std::vector<Value*> out;
  for (std::size_t i = 0; i < parts.size();) {
    const auto first = piece_of(*parts[i]);
    std::size_t end = i + 1;
    std::int64_t length = first ? first->length : 0;
    for (; first && first->axis == axis && end < parts.size(); ++end) {
      const auto next = piece_of(*parts[end]);
      if (!next || next->whole != first->whole || next->axis != axis || next->start != first->start + length)
        break;
      length += next->length;
    }
    if (end == i + 1) {
      out.push_back(parts[i]);
    } else {
      AxisSlices s = whole(first->whole->type.dims());
      s.starts[axis] = first->start;
      s.counts[axis] = length;
      out.push_back(make_slice(g, n, first->whole, s));
    }
    i = end;
  }
  return out;
}

// How many inputs `rejoined` leaves, without making any.
bool has_neighbours(const std::vector<Value*>& parts, std::size_t axis) {
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto a = piece_of(*parts[i]), b = piece_of(*parts[i + 1]);
    if (a && b && a->whole == b->whole && a->axis == axis && b->axis == axis &&
        b->start == a->start + a->length)
      return true;
  }
  return false;
}

bool simplify_concat(Graph& g, Node& n) {
  if (!n.is("Concat") || n.inputs().size() < 2) return false;
  const std::size_t rank = n.output(0)->type.shape->size();
  const auto axis = axis_of(n, 1, rank);
  if (!axis || element_count(n.output(0)->type.dims()) == 0) return false;
  std::vector<Value*> parts = flattened(n, *axis, rank);
  const bool joins = has_neighbours(parts, *axis);
  if (!joins && parts.size() == n.inputs().size() && std::ranges::equal(parts, n.inputs())) return false;
  // Names are lost only where one value is left; a Concat of one keeps it, which identity-removal sees to.
  Node* out = g.add_node("Concat", joins ? rejoined(g, n, parts, *axis) : parts, 1, &n, {}, 13);
  out->name = n.name;
  out->sources = n.sources;
  for (const Value* v : n.inputs())
    if (const Node* inner = static_producer(v, "Concat"); inner != nullptr && is_private(v))
      add_sources(*out, *inner);
  out->attrs.set("axis", static_cast<std::int64_t>(*axis));
  out->output(0)->type = n.output(0)->type;
  return replace_output(n, 0, out->output(0));
}

// Constant indices at equal, growing distances.
std::optional<AxisSlices> slice_of_indices(const Node& n, std::size_t axis) {
  const Value* index = n.input(1);
  const Dims dims = n.input(0)->type.dims();
  if (!index->is_constant() || index->constant().count() == 0 || index->type.shape->size() > 1)
    return std::nullopt;
  Dims at = to_int64s(index->constant());
  for (std::int64_t& i : at) {
    if (i < 0) i += dims[axis];
    if (i < 0 || i >= dims[axis]) return std::nullopt;
  }
  const std::int64_t step = at.size() > 1 ? at[1] - at[0] : 1;
  if (step < 1) return std::nullopt;
  for (std::size_t i = 1; i < at.size(); ++i)
    if (at[i] - at[i - 1] != step) return std::nullopt;
  AxisSlices s = whole(dims);
  s.starts[axis] = at[0];
  s.steps[axis] = step;
  s.counts[axis] = std::ssize(at);
  return s;
}

bool gather_to_slice(Graph& g, Node& n) {
  if (!n.is("Gather") || n.input(0)->is_constant() || !ops::copies_input(n)) return false;
  const auto axis = axis_of(n, 0, n.input(0)->type.shape->size());
  if (!axis || element_count(n.output(0)->type.dims()) == 0) return false;
  const auto s = slice_of_indices(n, *axis);
  if (!s) return false;
  const bool same = s->counts == n.input(0)->type.dims() && n.output(0)->type.dims() == s->counts;
  if (same && !can_replace(n.output(0), n.input(0))) return false;
  Value* part = make_slice(g, n, n.input(0), *s);
  return replace_output(n, 0, make_reshape(g, n, part, n.output(0)->type.dims()));
}

bool merge_expands(Graph& g, Node& n) {
  const Node* inner = n.is("Expand") ? static_producer(n.input(0), "Expand") : nullptr;
  if (inner == nullptr) return false;
  const Dims dims = n.output(0)->type.dims();
  Value* shape = g.add_constant(n.name + "/shape", from_int64s(DType::I64, {std::ssize(dims)}, dims));
  Node* out = g.add_node("Expand", {inner->input(0), shape}, 1, &n, {}, 13);
  out->name = n.name;
  out->sources = n.sources;
  add_sources(*out, *inner);
  out->output(0)->type = n.output(0)->type;
  return replace_output(n, 0, out->output(0));
}

bool single_part(Graph& g, Node& n) {
  if (!n.is("Split") || n.outputs().size() < 2) return false;
  std::optional<std::size_t> read;
  for (std::size_t i = 0; i < n.outputs().size(); ++i) {
    if (n.output(i) == nullptr || !g.is_used(n.output(i))) continue;
    if (read) return false;
    read = i;
  }
  const auto part = read ? piece_of(*n.output(*read)) : std::nullopt;
  if (!part || part->length == 0 || !ops::copies_input(n)) return false;
  AxisSlices s = whole(part->whole->type.dims());
  s.starts[part->axis] = part->start;
  s.counts[part->axis] = part->length;
  if (s.counts == part->whole->type.dims() && !can_replace(n.output(*read), part->whole)) return false;
  return replace_output(n, *read, make_slice(g, n, part->whole, s));
}

// Slices that cut the input of `n` along its axis, in the order of their parts.
std::vector<Node*> siblings(const Node& n, const Piece& mine) {
  std::vector<std::pair<std::int64_t, Node*>> found;
  for (const Value::Use& use : mine.whole->uses()) {
    Node* s = use.node;
    if (use.index != 0 || !s->is("Slice") || s->graph() != n.graph() || !s->graph()->is_used(s->output(0)))
      continue;
    const auto piece = piece_of(*s->output(0));
    if (piece && piece->axis == mine.axis) found.emplace_back(piece->start, s);
  }
  std::ranges::sort(found, {}, [](const auto& entry) { return entry.first; });
  std::vector<Node*> out;
  for (const auto& entry : found) out.push_back(entry.second);
  return out;
}

bool slices_to_split(Graph& g, Node& n) {
  if (!n.is("Slice") || n.input(0)->uses().size() > kMaxReaders || !ops::copies_input(n)) return false;
  const auto mine = piece_of(*n.output(0));
  if (!mine) return false;
  const std::vector<Node*> parts = siblings(n, *mine);
  Dims lengths;
  std::int64_t at = 0;
  for (const Node* s : parts) {
    const auto piece = piece_of(*s->output(0));
    if (piece->start != at) return false;
    lengths.push_back(piece->length);
    at += piece->length;
  }
  if (parts.size() < 2 || at != mine->whole->type.dims()[mine->axis]) return false;
  // It is the first of them that the sweep meets: the earliest.
  Value* list = g.add_constant(n.name + "/split", from_int64s(DType::I64, {std::ssize(lengths)}, lengths));
  Node* split = g.add_node("Split", {mine->whole, list}, static_cast<int>(parts.size()), &n, {}, 13);
  split->name = n.name;
  split->attrs.set("axis", static_cast<std::int64_t>(mine->axis));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    split->output(i)->type = parts[i]->output(0)->type;
    add_sources(*split, *parts[i]);
    replace_value(parts[i]->output(0), split->output(i));
  }
  return true;
}

constexpr std::array<Rule, 7> kRules = {merge_slices,    slice_of_concat, split_of_concat, simplify_concat,
                                        gather_to_slice, merge_expands,   single_part};
// By itself: while other rules make Slices, the first that a sweep meets need not be the earliest.
constexpr std::array<Rule, 1> kJoiningRules = {slices_to_split};

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    changes += apply_rules(graph, kRules);
    const int joined = apply_rules(graph, kJoiningRules);
    if (joined == 0) break;
    changes += joined;
  }
  return changes;
}

}  // namespace

Pass slice_algebra_pass() {
  return {"slice-algebra", "", "Slice, Split, Concat, Gather and Expand of one another become one", run};
}

}  // namespace atc::passes
