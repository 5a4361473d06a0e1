#include "passes/program_motion.h"

#include <algorithm>

#include "ops/fused_views.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool rearranges(const Node& n) { return is_reshape(n) || n.is("Transpose"); }

bool is_elementwise_program(const Node& n) {
  return n.is_internal("Fused") && n.inputs().size() == 1 && n.outputs().size() == 1 &&
         n.attrs.get_ints("reduce_axes").empty() && !ops::has_fused_views(n) && !n.attrs.has("parts") &&
         n.input(0)->type.dims() == n.output(0)->type.dims();
}

/// The nodes between the maker of the elements and `program`, last first; empty where it must stay.
std::vector<Node*> views_before(const Graph& g, const Node& program) {
  std::vector<Node*> views;
  const Value* v = program.input(0);
  for (; v->producer() != nullptr && v->producer()->graph() == &g; v = v->producer()->input(0)) {
    if (!is_private(v) || !v->type.is_static()) return {};
    Node* n = v->producer();
    if (n->domain == "atc" && n->attrs.has("epilogue"))
      return n->output(0) == v ? views : std::vector<Node*>{};
    if (!rearranges(*n)) return {};
    views.push_back(n);
  }
  return {};
}

// The body on elements of shape `dims`; null when it holds other tensors than those of shape `from`.
std::shared_ptr<Graph> reshaped_body(const Graph& body, const Dims& from, const Dims& dims) {
  std::shared_ptr<Graph> out = body.clone();
  for (Value* v : out->values()) {
    if (!v->type.is_static()) return nullptr;
    if (v->is_constant()) {
      if (element_count(v->type.dims()) != 1) return nullptr;
      // A constant of more axes than the new shape would widen it.
      if (v->type.shape->size() > dims.size()) return nullptr;
      continue;
    }
    if (v->type.dims() == from)
      v->type.shape = ir::to_shape(dims);
    else
      return nullptr;
  }
  return out;
}

bool move(Graph& g, Node& program) {
  const std::vector<Node*> views = views_before(g, program);
  if (views.empty()) return false;
  Value* elements = views.back()->input(0);
  const DType dtype = program.output(0)->type.dtype;
  auto body =
      reshaped_body(*program.attrs.get_graph("body"), program.input(0)->type.dims(), elements->type.dims());
  if (body == nullptr || !can_replace(program.output(0), views.front()->output(0))) return false;
  body->set_parent(&g);
  Node* moved = g.add_node("Fused", {elements}, 1, views.back(), "atc", 0);
  moved->name = program.name;
  moved->sources = program.sources;
  moved->attrs = program.attrs;
  moved->attrs.set("body", std::move(body));
  moved->output(0)->type = ir::tensor_type(dtype, elements->type.dims());
  views.back()->set_input(0, moved->output(0));
  for (Node* n : views) n->output(0)->type.dtype = dtype;
  replace_value(program.output(0), views.front()->output(0));
  g.erase(&program);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (is_elementwise_program(*n) && move(graph, *n)) ++changes;
  return changes;
}

}  // namespace

Pass program_motion_pass() {
  return {"program-motion", "", "elementwise programs move in front of reshapes and transpositions", run};
}

}  // namespace atc::passes
