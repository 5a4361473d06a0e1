#include "passes/softmax_pooling_pattern.h"

#include <algorithm>

#include "ops/body.h"
#include "ops/op.h"
#include "passes/match.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

Dims without_ones(const Dims& dims) {
  Dims out;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(out), [](std::int64_t d) { return d != 1; });
  return out;
}

/// A node that only inserts, drops or moves axes of length 1: elements stay in their order.
bool keeps_order(const Node& n) {
  if (!has_static_shapes(n)) return false;
  if (n.is("Unsqueeze") || n.is("Squeeze")) return true;
  const Dims in = n.input(0)->type.dims();
  if (n.is("Reshape")) return without_ones(in) == without_ones(n.output(0)->type.dims());
  if (!n.is("Transpose")) return false;
  Dims moved;
  for (std::int64_t p : n.attrs.get_ints("perm"))
    if (in[static_cast<std::size_t>(p)] != 1) moved.push_back(p);
  return std::is_sorted(moved.begin(), moved.end());
}

/// Among the axes longer than 1: the number of `axis`; nullopt when it is not among them.
std::optional<std::int64_t> number_of(const Dims& dims, std::int64_t axis) {
  const auto at = dims.begin() + axis;
  if (*at == 1) return std::nullopt;
  return std::count_if(dims.begin(), at, [](std::int64_t d) { return d != 1; });
}

/// The softmax behind `weights`, whose axis `axis` it runs along. What others read too is no part of the
/// match.
bool take_softmax(Value* weights, std::int64_t axis, PoolingPattern& m) {
  m.weights = weights->type.dims();
  const auto number = number_of(m.weights, axis);
  if (!number) return false;
  while (weights->producer() != nullptr && weights->producer()->graph() == m.nodes.front()->graph() &&
         keeps_order(*weights->producer())) {
    m.shared = m.shared || !is_private(weights);
    if (!m.shared) m.nodes.push_back(weights->producer());
    weights = weights->producer()->input(0);
  }
  Node* n = made_by(weights, "Softmax");
  if (n == nullptr || !has_static_shapes(*n)) return false;
  const Dims dims = n->input(0)->type.dims();
  const auto own = softmax_axis(*n);
  if (!own || number_of(dims, *own) != number) return false;
  m.softmax = n;
  m.shared = m.shared || !is_private(weights);
  if (!m.shared) m.nodes.push_back(n);
  m.scores = n->input(0);
  while (m.scores->producer() != nullptr && keeps_order(*m.scores->producer()))
    m.scores = m.scores->producer()->input(0);
  return true;
}

/// Weights that are expanded to the values' shape, as they were before.
Value* unexpanded(Value* v, std::vector<Node*>& nodes) {
  Node* n = made_by(v, "Expand");
  if (n == nullptr || !is_private(v) || !has_static_shapes(*n) ||
      n->input(0)->type.shape->size() != v->type.shape->size())
    return v;
  nodes.push_back(n);
  return n->input(0);
}

/// ReduceSum(w * x).
std::optional<PoolingPattern> weighted_sum(Node& n) {
  const auto axes = n.is("ReduceSum") ? ops::vector_reduce_axes(n) : std::nullopt;
  Node* mul = axes && axes->size() == 1 ? made_by(n.input(0), "Mul") : nullptr;
  if (mul == nullptr || !has_static_shapes(*mul)) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    PoolingPattern m;
    m.nodes = {&n, mul};
    m.x = mul->input(1 - i);
    m.axis = axes->front();
    Value* w = unexpanded(mul->input(i), m.nodes);
    if (m.x->type != n.input(0)->type || w->type.shape->size() > m.x->type.shape->size()) continue;
    const std::int64_t missing = std::ssize(*m.x->type.shape) - std::ssize(*w->type.shape);
    if (m.axis < missing) continue;
    if (take_softmax(w, m.axis - missing, m)) return m;
  }
  return std::nullopt;
}

/// MatMul(w, x) with one row of weights a matrix; the weights become a column.
std::optional<PoolingPattern> row_product(Node& n) {
  if (!n.is("MatMul") || !is_float(n.input(0)->type.dtype)) return std::nullopt;
  const Dims w = n.input(0)->type.dims(), x = n.input(1)->type.dims();
  if (w.size() < 2 || x.size() != w.size() || w[w.size() - 2] != 1 ||
      !std::equal(w.begin(), w.end() - 2, x.begin(), x.end() - 2))
    return std::nullopt;
  PoolingPattern m;
  m.nodes = {&n};
  m.x = n.input(1);
  m.axis = std::ssize(x) - 2;
  if (!take_softmax(n.input(0), std::ssize(w) - 1, m)) return std::nullopt;
  std::swap(m.weights[w.size() - 2], m.weights[w.size() - 1]);
  return m;
}

}  // namespace

std::optional<PoolingPattern> match_pooling(Node& last) {
  if (!has_static_shapes(last)) return std::nullopt;
  auto found = weighted_sum(last);
  return found ? found : row_product(last);
}

}  // namespace atc::passes
