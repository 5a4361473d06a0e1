#include "passes/swiglu_fusion.h"

#include "ops/fused_views.h"
#include "ops/reference_util.h"
#include "passes/gated_unit.h"
#include "passes/rewrite.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "GLUFusionPass", kGeGlu = "GeGlu";

std::string_view atc_name(const GateOf& gate) {
  return gate.label == kGeGlu ? "GeGluV2FusionPass" : kAtcName;
}

// Strides over dims; nullopt where the value is broadcast.
std::optional<StridedView> full_view(Value* v, const Dims& dims) {
  StridedView view = trace_view(v);
  if (v->type.dims() != dims) return std::nullopt;
  return view;
}

// The matrix product with a constant that makes the value, through a constant row added to it.
const Node* projection(const Value* v) {
  const Node* n = v->producer();
  if (n != nullptr && n->is("Add"))
    for (std::size_t i = 0; i < 2; ++i)
      if (n->input(i)->is_constant() && n->input(1 - i)->producer() != nullptr) {
        n = n->input(1 - i)->producer();
        break;
      }
  return n != nullptr && n->is("MatMul") && n->input(1)->is_constant() ? n : nullptr;
}

bool fuse(Graph& graph, Node& n, PassContext& context) {
  for (std::size_t i = 0; i < 2; ++i) {
    const auto gate = gate_of(n.input(i));
    if (!gate) continue;
    Value *g = gate->g, *u = n.input(1 - i), *y = n.output(0);
    const Dims dims = y->type.dims();
    const auto gv = full_view(g, dims), uv = full_view(u, dims);
    if (!gv || !uv || element_count(dims) == 0) continue;
    const bool parts = gv->base == uv->base && gv->base != g;
    const Node *gp = projection(gv->base), *up = projection(uv->base);
    const bool products = gp != nullptr && up != nullptr && gp != up && gp->input(0) == up->input(0) &&
                          gv->base->uses().size() == gate->nodes.size() && uv->base->uses().size() == 1;
    if (!parts && !products) {
      // Two products, or parts of tensors: what users know as a gated unit.
      if ((gp != nullptr && up != nullptr) || (gv->base != g && uv->base != u))
        context.near_miss(atc_name(*gate), n,
                          gp != nullptr && up != nullptr
                              ? "the two products do not read one value, or something else reads a product"
                              : "gate and value are parts of two tensors");
      continue;
    }
    // Elsewhere other gates are better off in the programs of their neighbours.
    const bool feeds_forward = gp != nullptr && is_private(y) && y->uses()[0].node->is("MatMul");
    if (gate->label != kSwiGlu && !feeds_forward) continue;
    context.fusions.matched(FusionKind::Graph, atc_name(*gate));
    Node* fused = graph.add_node("Fused", {gv->base, uv->base}, 1, &n, "atc", 0);
    fused->name = n.name;
    for (const Node* k : gate->nodes) add_sources(*fused, *k);
    add_sources(*fused, n);
    fused->attrs.set("label", std::string(gate->label));
    ops::set_fused_views(
        *fused,
        {dims, {{gv->offset, gv->strides}, {uv->offset, uv->strides}, {0, ops::row_major_strides(dims)}}});
    auto body = std::make_shared<Graph>("body", &graph);
    Value* a = body->add_input("gate", g->type);
    Value* b = body->add_input("up", u->type);
    auto op = [&](const Node& like, std::vector<Value*> in) {
      Node* k = body->add_node(like.op_type, std::move(in), 1, nullptr, {}, like.version);
      k->attrs = like.attrs;
      k->output(0)->type = y->type;
      return k->output(0);
    };
    Value* activated = op(*gate->nodes[0], {a});
    if (gate->nodes.size() > 1) activated = op(*gate->nodes[1], {a, activated});
    body->add_output(op(n, {activated, b}));
    fused->attrs.set("body", std::move(body));
    fused->output(0)->type = y->type;
    replace_value(y, fused->output(0));
    graph.erase(&n);
    for (auto k = gate->nodes.rbegin(); k != gate->nodes.rend(); ++k) graph.erase(*k);
    context.fusions.effected(FusionKind::Graph, atc_name(*gate));
    return true;
  }
  return false;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is("Mul") && has_static_shapes(*n) && ir::to_dims(*n->output(0)->type.shape).size() > 0 &&
        fuse(graph, *n, context))
      ++changes;
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass swiglu_fusion_pass() {
  return {"swiglu-fusion", kAtcName, "gated units become one vector program over both halves", run};
}

}  // namespace atc::passes
