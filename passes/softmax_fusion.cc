#include "passes/softmax_fusion.h"

#include "ops/body.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "SoftmaxFusionPass";

/// The axis of a reduction of `x` along one, which it keeps.
std::optional<std::int64_t> reduced_axis(const Node& n, const Value* x) {
  if (n.input(0) != x || !has_static_shapes(n)) return std::nullopt;
  const auto axes = ops::vector_reduce_axes(n);
  if (!axes || axes->size() != 1 || n.output(0)->type.shape->size() != x->type.shape->size())
    return std::nullopt;
  return axes->front();
}

/// e and the value that divides it.
struct Quotient {
  Value* e = nullptr;
  Value* total = nullptr;
  std::vector<Node*> nodes;
};

std::vector<Quotient> quotients(Node& n) {
  if (n.is("Div")) return {{n.input(0), n.input(1), {&n}}};
  std::vector<Quotient> out;
  for (std::size_t i = 0; n.is("Mul") && i < 2; ++i)
    if (Node* r = made_by(n.input(1 - i), "Reciprocal")) out.push_back({n.input(i), r->input(0), {&n, r}});
  return out;
}

bool fuse(Graph& graph, Node& n, PassContext& context) {
  for (Quotient& q : quotients(n)) {
    Node* exp = made_by(q.e, "Exp");
    Node* sum = made_by(q.total, "ReduceSum");
    if (exp == nullptr || sum == nullptr) continue;
    const auto axis = reduced_axis(*sum, q.e);
    if (!axis) continue;
    q.nodes.insert(q.nodes.end(), {sum, exp});
    Value* x = exp->input(0);
    if (Node* sub = made_by(x, "Sub"))
      if (Node* max = made_by(sub->input(1), "ReduceMax");
          max != nullptr && reduced_axis(*max, sub->input(0)) == axis) {
        q.nodes.insert(q.nodes.end(), {sub, max});
        x = sub->input(0);
      }
    Node* softmax = fuse_nodes(graph, context, kAtcName, q.nodes, n, x, "Softmax", "SoftmaxV2", 13);
    if (softmax != nullptr) softmax->attrs.set("axis", *axis);
    return softmax != nullptr;
  }
  return false;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if ((n->is("Div") || n->is("Mul")) && has_static_shapes(*n) && fuse(graph, *n, context)) ++changes;
  return changes;
}

}  // namespace

Pass softmax_fusion_pass() {
  return {"softmax-fusion", kAtcName, "softmax written out becomes the operator", run};
}

}  // namespace atc::passes
