#include "passes/permuted_region.h"

#include <algorithm>

#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {

using ir::Graph;
using ir::Node;
using ir::Value;

namespace {

// A Transpose is seldom far from the one that undoes it, and each looks at so many nodes.
constexpr std::size_t kMaxMembers = 64;

bool is_softmax(const Node& n) { return n.is("Softmax") || n.is("LogSoftmax"); }

// The axis of a Softmax that goes along one axis.
std::optional<std::size_t> softmax_axis(const Node& n) {
  const std::size_t rank = n.input(0)->type.shape->size();
  const auto axis = axis_of(n, n.version < 13 ? 1 : -1, rank);
  // Earlier opsets take all axes from this one on together.
  if (!axis || (n.version < 13 && *axis + 1 != rank)) return std::nullopt;
  return axis;
}

std::optional<Dims> reduced_axes(const Node& n) {
  if (!n.op_type.starts_with("Reduce") || n.attrs.get_int("keepdims", 1) == 0) return std::nullopt;
  Dims axes = n.attrs.get_ints("axes");
  if (n.input(1) != nullptr) {
    const auto list = ops::constant_list(n, 1);
    if (!list) return std::nullopt;
    axes = *list;
  }
  if (axes.empty()) return std::nullopt;
  return ops::normalize_axes(axes, n.input(0)->type.shape->size());
}

Dims moved_axes(const Dims& axes, const Dims& perm) {
  Dims out;
  for (std::int64_t a : axes) out.push_back(perm[static_cast<std::size_t>(a)]);
  std::ranges::sort(out);
  return out;
}

bool are_neighbours(const Dims& axes) { return axes.back() - axes.front() + 1 == std::ssize(axes); }

// Rows and columns change places, all else stays.
bool swaps_matrices(const Dims& perm) {
  const std::size_t rank = perm.size();
  if (rank < 2) return false;
  Dims swapped = perm;
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  return is_identity(swapped);
}

// A product with a constant matrix: (x^T W)^T = W^T x.
bool is_constant_product(const Node& n) {
  if (!n.is("MatMul")) return false;
  const auto is_matrix = [](const Value* v) { return v->is_constant() && v->type.shape->size() >= 2; };
  return is_matrix(n.input(0)) != is_matrix(n.input(1));
}

// The node can work on values in another order of the axes.
bool can_turn(const Node& n, const Dims& perm) {
  if (!n.domain.empty() || !has_static_shapes(n) || n.outputs().size() != 1) return false;
  if (n.output(0)->type.shape->size() != perm.size()) return false;
  if (is_softmax(n)) return softmax_axis(n).has_value();
  if (n.is("Concat")) return axis_of(n, 1, perm.size()).has_value();
  if (n.is("MatMul")) return swaps_matrices(perm) && is_constant_product(n);
  if (n.op_type.starts_with("Reduce")) {
    const auto axes = reduced_axes(n);
    return axes && are_neighbours(moved_axes(*axes, perm));
  }
  return is_elementwise(n);
}

// Inputs that are data, in the order of the axes.
std::size_t data_inputs(const Node& n) {
  return is_softmax(n) || n.op_type.starts_with("Reduce") ? 1 : n.inputs().size();
}

// As an operand of an elementwise operator.
bool broadcasts_as_it_is(const Node& reader, const Value& v) {
  return element_count(v.type.dims()) == 1 && !reader.is("Concat") && !reader.is("MatMul");
}

void turn_attributes(const Node& from, Node& to, const Dims& perm) {
  if (is_softmax(from)) {
    to.version = std::max(to.version, 13);
    to.attrs.set("axis", perm[*softmax_axis(from)]);
  } else if (from.is("Concat")) {
    to.attrs.set("axis", perm[*axis_of(from, 1, perm.size())]);
  } else if (from.op_type.starts_with("Reduce")) {
    const Dims axes = moved_axes(*reduced_axes(from), perm);
    if (from.input(1) == nullptr)
      to.attrs.set("axes", axes);
    else
      to.set_input(1, to.graph()->add_constant(from.name + "/axes",
                                               from_int64s(DType::I64, {std::ssize(axes)}, axes)));
  }
}

// Left over from what a rule has just replaced.
bool is_dead(const Node& n) {
  return n.outputs().size() == 1 && n.output(0) != nullptr && !n.graph()->is_used(n.output(0));
}

Dims composed(const Dims& first, const Dims& then) { return permuted(first, then); }

}  // namespace

PermutedRegion::PermutedRegion(Graph& graph, Node& transpose, bool foreign)
    : graph_(graph), perm_(permutation_of(transpose)), foreign_allowed_(foreign) {
  grow(transpose.output(0));
  count();
}

bool PermutedRegion::is_entry(const Value* v) const {
  const Node* n = v->producer();
  return n != nullptr && n->graph() == &graph_ && n->is("Transpose") && has_static_shapes(*n) &&
         permutation_of(*n) == perm_;
}

void PermutedRegion::grow(Value* first) {
  std::vector<Value*> work = {first};
  inside_.insert(first);
  while (!work.empty()) {
    Value* v = work.back();
    work.pop_back();
    values_.push_back(v);
    visit(v, work);
  }
}

// Takes the readers of `v` in that can turn; what they read and make follows.
void PermutedRegion::visit(Value* v, std::vector<Value*>& work) {
  if (graph_.is_output(v)) read_outside_.insert(v);
  for (const Value::Use& use : v->uses()) {
    Node* n = use.node;
    if (members_.contains(n) || is_dead(*n)) continue;
    if (n->graph() == &graph_ && n->is("Transpose") && has_static_shapes(*n)) {
      exits_.push_back(n);
      continue;
    }
    std::vector<Value*> entries;
    if (n->graph() != &graph_ || members_.size() >= kMaxMembers || !can_turn(*n, perm_) ||
        !joins(*n, entries)) {
      read_outside_.insert(v);
      continue;
    }
    members_.insert(n);
    entries.push_back(n->output(0));
    for (Value* entry : entries)
      if (inside_.insert(entry).second) work.push_back(entry);
  }
}

// Every operand of the node has a form in the other order; `entries` get those that Transposes of the same
// kind make.
bool PermutedRegion::joins(const Node& n, std::vector<Value*>& entries) const {
  for (std::size_t i = 0; i < data_inputs(n); ++i) {
    Value* v = n.input(i);
    if (v == nullptr || inside_.contains(v) || broadcasts_as_it_is(n, *v)) continue;
    if (v->type.shape->size() > perm_.size()) return false;
    if (v->is_constant()) continue;
    if (v->type.shape->size() != perm_.size()) return false;
    if (is_entry(v))
      entries.push_back(v);
    else if (!foreign_allowed_)
      return false;
  }
  return true;
}

void PermutedRegion::count() {
  if (members_.empty()) return;  // Transposes alone: they merge
  std::unordered_set<const Value*> foreign;
  for (const Value* v : values_) {
    if (is_entry(v)) {
      if (!read_outside_.contains(v)) ++gain_;
    } else if (read_outside_.contains(v)) {
      --gain_;
    }
  }
  for (const Node* n : members_)
    for (std::size_t i = 0; i < data_inputs(*n); ++i) {
      const Value* v = n->input(i);
      if (v == nullptr || v->is_constant() || inside_.contains(v)) continue;
      if (broadcasts_as_it_is(*n, *v)) continue;
      if (foreign.insert(v).second) --gain_;
    }
  for (const Node* exit : exits_) {
    const Value* v = exit->input(0);
    if (is_identity(composed(perm_, permutation_of(*exit))) &&
        (!is_entry(v) || can_replace(exit->output(0), v->producer()->input(0))))
      ++gain_;
  }
}

// An operand of a node of the region, in the order of its native form.
Value* PermutedRegion::operand(Node& reader, Value* v) {
  if (inside_.contains(v)) return native(v);
  if (broadcasts_as_it_is(reader, *v)) return v;
  if (!v->is_constant()) return make_transpose(graph_, reader, v, inverse(perm_));
  Dims dims = v->type.dims();
  dims.insert(dims.begin(), perm_.size() - dims.size(), 1);
  const Dims order = inverse(perm_);
  return graph_.add_constant(v->name(),
                             ops::strided_copy(ops::with_shape(v->constant(), dims), permuted(dims, order),
                                               permuted(ops::row_major_strides(dims), order)));
}

// What a permuted value is before the permutation.
Value* PermutedRegion::native(Value* v) {
  if (is_entry(v)) return v->producer()->input(0);
  if (const auto known = native_.find(v); known != native_.end()) return known->second;
  Node* n = v->producer();
  std::vector<Value*> inputs(n->inputs().begin(), n->inputs().end());
  for (std::size_t i = 0; i < data_inputs(*n); ++i)
    if (inputs[i] != nullptr) inputs[i] = operand(*n, inputs[i]);
  if (n->is("MatMul")) std::swap(inputs[0], inputs[1]);
  Node* turned = graph_.add_node(n->op_type, std::move(inputs), 1, n, {}, n->version);
  turned->name = n->name;
  turned->sources = n->sources;
  turned->attrs = n->attrs;
  turn_attributes(*n, *turned, perm_);
  turned->output(0)->type = ir::tensor_type(v->type.dtype, permuted(v->type.dims(), inverse(perm_)));
  return native_[v] = turned->output(0);
}

void PermutedRegion::turn() {
  for (Node* exit : exits_) {
    Value* x = native(exit->input(0));
    const Dims perm = composed(perm_, permutation_of(*exit));
    if (is_identity(perm) && !can_replace(exit->output(0), x)) continue;
    replace_output(*exit, 0, make_transpose(graph_, *exit, x, perm));
  }
  for (Value* v : values_) {
    if (is_entry(v) || !read_outside_.contains(v)) continue;
    Value* x = native(v);
    replace_value(v, make_transpose(graph_, *v->producer(), x, perm_));
  }
}

}  // namespace atc::passes
