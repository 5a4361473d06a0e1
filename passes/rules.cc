#include "passes/rules.h"

#include <algorithm>
#include <numeric>

#include "ops/body.h"
#include "ops/op.h"
#include "passes/rewrite.h"

namespace atc::passes {

using ir::Graph;
using ir::Node;
using ir::Value;

namespace {

// Of the nodes written here.
constexpr int kOpset = 17;

// One sweep takes a chain of any length, for it goes in topological order; further ones take what rules
// further down have opened.
constexpr int kMaxSweeps = 16;

bool is_read(const Node& n) {
  return std::ranges::any_of(n.outputs(), [&](const Value* y) {
    return y != nullptr && (!y->uses().empty() || n.graph()->is_used(y));
  });
}

int sweep(Graph& graph, std::span<const Rule> rules) {
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!n->domain.empty() || !has_static_shapes(*n) || !is_read(*n)) continue;
    if (std::ranges::any_of(rules, [&](Rule rule) { return rule(graph, *n); })) ++changes;
  }
  return changes;
}

Node* insert(Graph& graph, Node& before, const std::string& type, std::vector<Value*> inputs,
             const ir::TensorType& out) {
  Node* n = graph.add_node(type, std::move(inputs), 1, &before, {}, kOpset);
  n->name = before.name;
  n->sources = before.sources;
  n->output(0)->type = out;
  return n;
}

}  // namespace

int apply_rules(Graph& graph, std::span<const Rule> rules) {
  int changes = 0;
  for (int i = 0; i < kMaxSweeps; ++i) {
    const int more = sweep(graph, rules);
    if (more == 0) break;
    changes += more;
    graph.sweep();
  }
  return changes;
}

bool is_reshape(const Node& n) {
  return n.is("Reshape") || n.is("Flatten") || n.is("Squeeze") || n.is("Unsqueeze");
}

bool is_elementwise(const Node& n) {
  if (n.outputs().size() != 1 || n.attrs.has("axis") || n.op_type.find("Quantize") != std::string::npos)
    return false;
  const auto axes = ops::vector_reduce_axes(n);
  return axes && axes->empty() && ops::is_vectorizable(n);
}

std::optional<std::size_t> axis_of(const Node& node, std::int64_t fallback, std::size_t rank) {
  const auto axis =
      ops::normalize_axis(node.attrs.get_int("axis", fallback), static_cast<std::int64_t>(rank));
  if (!axis) return std::nullopt;
  return static_cast<std::size_t>(*axis);
}

Dims permutation_of(const Node& transpose) {
  if (transpose.attrs.has("perm")) return transpose.attrs.get_ints("perm");
  Dims perm(transpose.input(0)->type.shape->size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  return perm;
}

Dims permuted(const Dims& dims, const Dims& perm) {
  Dims out;
  for (std::int64_t p : perm) out.push_back(dims[static_cast<std::size_t>(p)]);
  return out;
}

Dims inverse(const Dims& perm) {
  Dims out(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    out[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return out;
}

bool is_identity(const Dims& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

Value* make_reshape(Graph& graph, Node& before, Value* x, const Dims& dims) {
  if (x->type.dims() == dims) return x;
  Value* shape =
      graph.add_constant(before.name + "/shape", from_int64s(DType::I64, {std::ssize(dims)}, dims));
  Node* n = insert(graph, before, "Reshape", {x, shape}, ir::tensor_type(x->type.dtype, dims));
  n->attrs.set("allowzero", std::int64_t{1});
  return n->output(0);
}

Value* make_transpose(Graph& graph, Node& before, Value* x, const Dims& perm) {
  if (is_identity(perm)) return x;
  Node* n =
      insert(graph, before, "Transpose", {x}, ir::tensor_type(x->type.dtype, permuted(x->type.dims(), perm)));
  n->attrs.set("perm", perm);
  return n->output(0);
}

bool replace_output(Node& from, std::size_t index, Value* with) {
  Value* old = from.output(index);
  if (!can_replace(old, with)) return false;
  replace_value(old, with);
  if (with->producer() != nullptr && with->producer() != &from) add_sources(*with->producer(), from);
  return true;
}

}  // namespace atc::passes
