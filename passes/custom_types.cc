#include "passes/custom_types.h"

#include "ops/custom.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr int kCastOpset = 13;

/// Weights are cast here, not when the model runs.
Value* cast_constant(Graph& graph, const Value& v, DType to) {
  return graph.add_constant(v.name() + "/" + std::string(name(to)),
                            from_doubles(to, v.type.dims(), to_doubles(v.constant())));
}

Node* add_cast(Graph& graph, Value* v, DType to, Node* before, const Node& of) {
  Node* c = graph.add_node("Cast", {v}, 1, before, {}, kCastOpset);
  c->name = of.name + "/cast";
  c->sources = of.sources;
  c->attrs.set("to", static_cast<std::int64_t>(to));
  c->output(0)->type = v->type;
  c->output(0)->type.dtype = to;
  return c;
}

/// `next`: the node behind it, null at the end.
StatusOr<int> retype(Graph& graph, Node& n, Node* next, DType narrow) {
  ATC_ASSIGN(const ops::CustomOperator op, ops::custom_operator(n));
  const custom::OpInfo& info = op.info();
  const auto c = ops::find_combination(info, ops::input_dtypes(n, info), narrow);
  if (!c) return ops::no_combination(n, info);
  int casts = 0;
  for (std::size_t i = 0; i < n.inputs().size(); ++i) {
    Value* v = n.input(i);
    const DType wanted = info.inputs[i].dtypes[c->index];
    if (v == nullptr || v->type.dtype == wanted) continue;
    n.set_input(i, v->is_constant() ? cast_constant(graph, *v, wanted)
                                    : add_cast(graph, v, wanted, &n, n)->output(0));
    ++casts;
  }
  for (std::size_t i = 0; i < n.outputs().size(); ++i) {
    Value* v = n.output(i);
    const DType made = info.outputs[i].dtypes[c->index];
    if (v == nullptr || v->type.dtype == made) continue;
    const DType seen = v->type.dtype;
    // Readers keep what they saw; the cast reads the node's output itself.
    Node* back = add_cast(graph, v, seen, next, n);
    Value* y = back->output(0);
    const std::string name = v->name();
    replace_value(v, y);
    back->set_input(0, v);
    if (y->name() == name) v->set_name(name + "/custom");
    v->type.dtype = made;
    ++casts;
  }
  return casts;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  DType narrow = DType::Undefined;
  if (context.options.precision == Precision::Fp16) narrow = DType::F16;
  int casts = 0;
  const std::vector<Node*> nodes = graph.node_list();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i]->is_internal("Custom")) continue;
    ATC_ASSIGN(const int added,
               retype(graph, *nodes[i], i + 1 < nodes.size() ? nodes[i + 1] : nullptr, narrow));
    casts += added;
  }
  return casts;
}

}  // namespace

Pass custom_types_pass() {
  return {.name = "custom-types",
          .summary = "element types that custom operators support; Casts around them",
          .run = run};
}

}  // namespace atc::passes
