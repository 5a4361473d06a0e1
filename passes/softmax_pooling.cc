#include "passes/softmax_pooling.h"

#include <algorithm>

#include "atc/base/check.h"
#include "ops/body.h"
#include "ops/op.h"
#include "passes/match.h"
#include "passes/node_writer.h"
#include "passes/reachability.h"
#include "passes/rewrite.h"
#include "passes/softmax_pooling_pattern.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "SoftmaxMulReduceSumFusionPass";

/// A convolution of one output channel that reads one position of every channel.
bool is_expectation(const Node& n) {
  if (!n.is("Conv") || !n.input(1)->is_constant() || n.input(2) != nullptr) return false;
  const Dims x = n.input(0)->type.dims(), w = n.input(1)->type.dims();
  if (w.size() < 3 || w[0] != 1 || w[1] != x[1] || element_count(w) != w[1]) return false;
  // No strides, no pads: the positions stay.
  return std::equal(x.begin() + 2, x.end(), n.output(0)->type.dims().begin() + 2) &&
         n.attrs.get_string("auto_pad", "NOTSET") == "NOTSET" && n.attrs.get_int("group", 1) == 1;
}

bool fuse_expectation(Graph& graph, Node& n, PassContext& context) {
  Value* weights = n.input(0);
  const Node* softmax = is_expectation(n) ? made_by(weights, "Softmax") : nullptr;
  if (softmax == nullptr || softmax->version < 13 || !has_static_shapes(*softmax) ||
      ops::normalize_axis(softmax->attrs.get_int("axis", -1), std::ssize(*weights->type.shape)) != 1)
    return false;
  context.fusions.matched(FusionKind::Graph, kAtcName);
  if (!is_private(weights) || element_count(weights->type.dims()) == 0) return false;
  for (std::int64_t pad : n.attrs.get_ints("pads"))
    if (pad != 0) return false;
  NodeWriter w(graph, n);
  Dims along(weights->type.shape->size() - 1, 1);
  along[0] = weights->type.dims()[1];
  Tensor constants = n.input(1)->constant();
  constants.shape = along;
  Value* products =
      w.binary("Mul", weights, graph.add_constant(n.input(1)->name(), constants), weights, "products");
  Node* sum = w.insert("ReduceSum", {products, w.int64s({1}, "axis")}, n.output(0)->type, "expectation");
  sum->attrs.set("keepdims", std::int64_t{1});
  w.finish(sum->output(0));
  context.fusions.effected(FusionKind::Graph, kAtcName);
  return true;
}

/// True when `v` is computed from what `n` makes.
bool depends_on(const Graph& graph, const Value* v, Node& n) {
  const NodeOrder order(graph);
  if (v->producer() == nullptr || order.find(v->producer()) < 0) return false;
  return order.reaches({v->producer()}, {&n}, [](const Node*) { return nullptr; });
}

/// The second output of `sum` in place of the softmax's result; its readers come behind it.
void give_weights(Graph& graph, Node& sum, Node& softmax) {
  Value *old = softmax.output(0), *weights = sum.output(1);
  weights->type = ir::tensor_type(old->type.dtype, sum.input(1)->type.dims());
  if (weights->type != old->type) {
    Value* shape = graph.add_constant(
        softmax.name + "/shape", from_int64s(DType::I64, {std::ssize(old->type.dims())}, old->type.dims()));
    Node* reshape = graph.add_node("Reshape", {weights, shape}, 1, nullptr, {}, 14);
    reshape->name = softmax.name + "/weights";
    reshape->sources = softmax.sources;
    reshape->output(0)->type = old->type;
    weights = reshape->output(0);
  }
  replace_value(old, weights);
  graph.erase(&softmax);
  ATC_CHECK(graph.sort(), "softmax pooling made a cycle");
}

bool fuse(Graph& graph, Node& n, PassContext& context) {
  auto m = match_pooling(n);
  // Weights as many as the values are one program without this pass.
  if (!m || m->weights == m->x->type.dims()) return false;
  context.fusions.matched(FusionKind::Graph, kAtcName);
  const bool floating = m->x->type.dtype != DType::F64 && m->scores->type.dtype == m->x->type.dtype;
  if (!floating || element_count(m->x->type.dims()) == 0 || !is_closed(m->nodes, n)) return false;
  if (m->shared && depends_on(graph, m->x, *m->softmax)) return false;
  NodeWriter w(graph, n);
  Value* scores = w.reshape(m->scores, m->weights, "scores");
  Dims kept = m->x->type.dims();
  kept[static_cast<std::size_t>(m->axis)] = 1;
  Node* sum = graph.add_node("SoftmaxWeightedSum", {m->x, scores}, m->shared ? 2 : 1, &n, "atc", 0);
  sum->attrs.set("axis", m->axis);
  sum->name = n.name + "/SoftmaxWeightedSum";
  if (m->shared) add_sources(*sum, *m->softmax);
  for (auto it = m->nodes.rbegin(); it != m->nodes.rend(); ++it) add_sources(*sum, **it);
  sum->output(0)->type = ir::tensor_type(m->x->type.dtype, kept);
  Value* y = w.reshape(sum->output(0), n.output(0)->type.dims(), "dropped_axis");
  m->nodes.erase(m->nodes.begin());
  w.finish(y);
  for (Node* gone : m->nodes) graph.erase(gone);
  if (m->shared) give_weights(graph, *sum, *m->softmax);
  context.fusions.effected(FusionKind::Graph, kAtcName);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!has_static_shapes(*n)) continue;
    const bool is_sum = n->is("ReduceSum") || n->is("MatMul");
    if ((is_sum && fuse(graph, *n, context)) || fuse_expectation(graph, *n, context)) ++changes;
  }
  if (changes > 0) graph.sweep();  // of what made the scores' shape
  return changes;
}

}  // namespace

Pass softmax_pooling_pass() {
  return {"softmax-pooling", kAtcName, "attention pooling written out becomes one program", run};
}

}  // namespace atc::passes
