#include "passes/hard_swish_fusion.h"

#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "HardSwishFusionPass";

/// v = Clip(x + shift, 0, most).
struct Ramp {
  Value* x = nullptr;
  double shift = 0, most = 0;
  std::vector<Node*> nodes;
};

/// A bound of a Clip: an attribute before opset 11, an input since.
std::optional<double> bound(const Node& clip, std::size_t input, std::string_view attribute) {
  if (clip.version >= 11) return scalar_of(clip.input(input));
  if (!clip.attrs.has(attribute)) return std::nullopt;
  return static_cast<double>(clip.attrs.get_float(attribute, 0.0F));
}

std::optional<Ramp> ramp(Value* v) {
  Node* clip = made_by(v, "Clip");
  if (clip == nullptr || bound(*clip, 1, "min") != 0) return std::nullopt;
  const auto most = bound(*clip, 2, "max");
  Node* add = made_by(clip->input(0), "Add");
  const auto sum = add == nullptr ? std::nullopt : with_scalar(*add, "Add");
  if (!most || *most <= 0 || !sum) return std::nullopt;
  return Ramp{sum->x, sum->c, *most, {clip, add}};
}

void append(std::vector<Node*>& to, const std::vector<Node*>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// All the nodes of a hard swish of x.
std::optional<std::vector<Node*>> hard_swish(const Product& p, Value*& x) {
  for (std::size_t i = 0; p.factors.size() == 2 && i < 2; ++i) {
    x = p.factors[i];
    Value* g = p.factors[1 - i];
    std::vector<Node*> nodes = p.nodes;
    if (Node* h = made_by(g, "HardSigmoid")) {
      const double alpha = static_cast<double>(h->attrs.get_float("alpha", 0.2F));
      const double beta = static_cast<double>(h->attrs.get_float("beta", 0.5F));
      if (h->input(0) != x || !is_about(p.c, 1) || !is_about(alpha, 1.0 / 6) || !is_about(beta, 0.5))
        continue;
      nodes.push_back(h);
      return nodes;
    }
    const auto r = ramp(g);
    if (!r || r->x != x || !is_about(p.c, 1.0 / 6) || r->shift != 3 || r->most != 6) continue;
    append(nodes, r->nodes);
    return nodes;
  }
  return std::nullopt;
}

bool fuse_swish(Graph& graph, Node& n, PassContext& context) {
  Value* x = nullptr;
  const auto nodes = hard_swish(product_of(n.output(0)), x);
  if (!nodes) return false;
  return fuse_nodes(graph, context, kAtcName, *nodes, n, x, "HardSwish", "HardSwish", 14) != nullptr;
}

bool fuse_sigmoid(Graph& graph, Node& n, PassContext& context) {
  const Product p = product_of(n.output(0));
  const auto r = p.factors.size() == 1 ? ramp(p.factors[0]) : std::nullopt;
  if (!r || !is_about(p.c * r->most, 1)) return false;
  std::vector<Node*> nodes = p.nodes;
  append(nodes, r->nodes);
  Node* h = fuse_nodes(graph, context, kAtcName, nodes, n, r->x, "HardSigmoid", "HardSigmoid", 6);
  if (h == nullptr) return false;
  h->attrs.set("alpha", static_cast<float>(p.c));
  h->attrs.set("beta", static_cast<float>(r->shift * p.c));
  return true;
}

bool is_candidate(const Node& n) { return (n.is("Mul") || n.is("Div")) && has_static_shapes(n); }

// Whole products first: their hard sigmoids are no patterns of their own. What a match takes away stands
// before its last node.
StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (const auto fuse : {fuse_swish, fuse_sigmoid})
    for (Node* n : graph.node_list())
      if (is_candidate(*n) && fuse(graph, *n, context)) ++changes;
  return changes;
}

}  // namespace

Pass hard_swish_fusion_pass() {
  return {"hard-swish-fusion", kAtcName, "hard swish and hard sigmoid written out become the operators", run};
}

}  // namespace atc::passes
