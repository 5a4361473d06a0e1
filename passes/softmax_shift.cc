#include "passes/softmax_shift.h"

#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// Maximum of `x` along one axis, with or without a Reshape that puts the 1 back.
bool is_maximum_of(const Value* m, const Value* x, std::size_t axis) {
  Dims kept = x->type.dims();
  kept[axis] = 1;
  if (m->type.dims() != kept) return false;
  const Node* n = m->producer();
  while (n != nullptr && n->domain.empty() && is_reshape(*n)) n = n->input(0)->producer();
  if (n == nullptr || !n->is("ReduceMax") || n->input(0) != x) return false;
  const Dims axes =
      n->input(1) != nullptr ? ops::constant_list(*n, 1).value_or(Dims()) : n->attrs.get_ints("axes");
  return axes.size() == 1 &&
         ops::normalize_axis(axes[0], std::ssize(kept)) == static_cast<std::int64_t>(axis);
}

bool drop_shift(Node& n) {
  if ((!n.is("Softmax") && !n.is("LogSoftmax")) || !has_static_shapes(n)) return false;
  const Node* sub = n.input(0)->producer();
  if (sub == nullptr || !sub->is("Sub") || !has_static_shapes(*sub)) return false;
  Value* x = sub->input(0);
  const std::size_t rank = x->type.shape->size();
  const auto axis = axis_of(n, n.version < 13 ? 1 : -1, rank);
  // Earlier opsets take all axes from this one on together.
  if (!axis || (n.version < 13 && *axis + 1 != rank) || !is_maximum_of(sub->input(1), x, *axis)) return false;
  n.set_input(0, x);
  add_sources(n, *sub);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node* n : graph.node_list())
    while (n->domain.empty() && drop_shift(*n)) ++changes;
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass softmax_shift_pass() {
  return {"softmax-shift", "", "Softmax of x less its maximum is Softmax of x", run};
}

}  // namespace atc::passes
