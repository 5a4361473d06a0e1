#include "passes/masked_softmax_fusion.h"

#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "ScaledMaskedSoftmaxFusionPass";

struct Match {
  Value* x = nullptr;
  double scale = 1;
  Value* mask = nullptr;
  std::string kind = "add";
  double fill = 0;
  std::vector<Node*> nodes;
};

/// v = x * scale, into the match; v itself where it is no such product.
void take_scale(Value* v, Match& m) {
  m.x = v;
  if (!is_private(v)) return;
  const Product p = product_of(v);
  if (p.nodes.empty() || p.factors.size() != 1 || p.factors[0]->type != v->type) return;
  m.x = p.factors[0];
  m.scale = p.c;
  m.nodes.insert(m.nodes.end(), p.nodes.begin(), p.nodes.end());
}

/// What is added to `v` without a scale: not its equal, nor the bias of a product, which has one number a
/// column.
bool is_mask(const Value& mask, const Value& v) {
  if (!mask.is_constant()) return mask.type != v.type;
  const Dims dims = mask.type.dims();
  return !dims.empty() && mask.constant().count() != dims.back();
}

bool take_add(Value* v, Match& m) {
  Node* add = made_by(v, "Add");
  if (add == nullptr) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    Value *x = add->input(i), *mask = add->input(1 - i);
    if (x->type != v->type || mask->type.dtype != v->type.dtype) continue;
    Match found = m;
    found.nodes.push_back(add);
    found.mask = mask;
    take_scale(x, found);
    if (found.scale == 1 && !is_mask(*mask, *v)) continue;
    m = found;
    return true;
  }
  return false;
}

bool take_where(Value* v, Match& m) {
  Node* where = made_by(v, "Where");
  if (where == nullptr) return false;
  for (std::size_t i = 1; i < 3; ++i) {
    const auto fill = scalar_of(where->input(i));
    Value* x = where->input(3 - i);
    if (!fill || x->type != v->type) continue;
    m.mask = where->input(0);
    m.kind = i == 1 ? "drop" : "keep";
    m.fill = *fill;
    m.nodes.push_back(where);
    take_scale(x, m);
    return true;
  }
  return false;
}

bool fuse(Graph& graph, Node& n, PassContext& context) {
  const auto axis = softmax_axis(n);
  if (!axis) return false;
  Match m;
  m.nodes.push_back(&n);
  Value* v = n.input(0);
  if (!is_private(v)) return false;
  if (!take_add(v, m) && !take_where(v, m)) take_scale(v, m);
  if (m.nodes.size() == 1) return false;
  context.fusions.matched(FusionKind::Graph, kAtcName);
  if (!is_closed(m.nodes, n)) return false;
  std::vector<Value*> inputs = {m.x};
  if (m.mask != nullptr) inputs.push_back(m.mask);
  Node* one = replace_nodes(graph, m.nodes, n, "ScaledMaskedSoftmax", std::move(inputs),
                            "ScaledMaskedSoftmax", 0, "atc");
  one->attrs.set("axis", *axis);
  one->attrs.set("scale", static_cast<float>(m.scale));
  if (m.mask != nullptr) one->attrs.set("mask_kind", m.kind);
  if (m.kind != "add") one->attrs.set("fill", static_cast<float>(m.fill));
  context.fusions.effected(FusionKind::Graph, kAtcName);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is("Softmax") && has_static_shapes(*n) && fuse(graph, *n, context)) ++changes;
  return changes;
}

}  // namespace

Pass masked_softmax_fusion_pass() {
  return {"masked-softmax-fusion", kAtcName, "a softmax takes in its scale and mask", run};
}

}  // namespace atc::passes
