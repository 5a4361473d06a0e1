#include "passes/attention_orientation.h"

#include <utility>

#include "passes/match.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_along_rows(const Node& softmax) {
  return softmax_axis(softmax) == std::ssize(*softmax.input(0)->type.shape) - 1;
}

/// Made of a matrix product by scales and masks, which nothing else reads.
bool are_scores(const Value* v) {
  constexpr int kMaxSteps = 6;
  for (int step = 0; step < kMaxSteps && is_private(v); ++step) {
    const Node& n = *v->producer();
    if (n.is("MatMul")) return true;
    const Value* next = nullptr;
    for (const Value* in : n.inputs())
      if (in != nullptr && in->type == v->type && is_private(in)) next = in;
    const bool known =
        n.is("Mul") || n.is("Div") || n.is("Add") || n.is("Sub") || n.is("Where") || n.is("Tanh");
    if (!known || next == nullptr) return false;
    v = next;
  }
  return false;
}

Value* turned(NodeWriter& w, Value* v, const std::string& suffix) {
  Dims dims = v->type.dims(), perm;
  for (std::int64_t i = 0; i < std::ssize(dims); ++i) perm.push_back(i);
  std::swap(dims[dims.size() - 2], dims.back());
  std::swap(perm[perm.size() - 2], perm.back());
  Node* t = w.insert("Transpose", {v}, ir::tensor_type(v->type.dtype, dims), suffix);
  t->attrs.set("perm", perm);
  return t->output(0);
}

bool turn(Graph& graph, Node& n) {
  Node* transposed = made_by(n.input(1), "Transpose");
  if (transposed == nullptr || !is_private(n.input(1)) || !has_static_shapes(*transposed) ||
      !swaps_last_axes(*transposed))
    return false;
  Value* weights = transposed->input(0);
  const Node* softmax = made_by(weights, "Softmax");
  if (softmax == nullptr || !is_private(weights) || !is_along_rows(*softmax) ||
      !are_scores(softmax->input(0)))
    return false;
  if (n.input(0)->type.shape->size() < 2) return false;
  NodeWriter w(graph, n);
  Value* values = turned(w, n.input(0), "values");
  Dims dims = n.output(0)->type.dims();
  std::swap(dims[dims.size() - 2], dims.back());
  Node* product =
      w.insert("MatMul", {weights, values}, ir::tensor_type(n.output(0)->type.dtype, dims), "rows");
  w.finish(turned(w, product->output(0), "columns"));
  graph.erase(transposed);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is("MatMul") && has_static_shapes(*n) && turn(graph, *n)) ++changes;
  return changes;
}

}  // namespace

Pass attention_orientation_pass() {
  return {"attention-orientation", "", "attention over columns is written over rows", run};
}

}  // namespace atc::passes
