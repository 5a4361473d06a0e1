#include "passes/swish_fusion.h"

#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "SwishFusionPass";

/// An activation that `nodes` write out, `nodes[0]` ending it.
struct Match {
  std::string op_type;
  Value* x = nullptr;
  double alpha = 1;
  std::vector<Node*> nodes;
};

/// z of v = 1 + Exp(z), and the nodes.
Value* one_plus_exp(Value* v, std::vector<Node*>& nodes) {
  Node* add = made_by(v, "Add");
  const auto sum = add == nullptr ? std::nullopt : with_scalar(*add, "Add");
  Node* exp = sum && sum->c == 1 ? made_by(sum->x, "Exp") : nullptr;
  if (exp == nullptr) return nullptr;
  nodes.insert(nodes.end(), {add, exp});
  return exp->input(0);
}

/// x and c of z = c * x, through Neg.
ScalarOperand scaled(Value* z, std::vector<Node*>& nodes) {
  double sign = 1;
  if (Node* neg = made_by(z, "Neg"); neg != nullptr && is_private(z)) {
    nodes.push_back(neg);
    z = neg->input(0);
    sign = -1;
  }
  if (!is_private(z)) return {z, sign};
  const Product p = product_of(z);
  if (p.factors.size() != 1) return {z, sign};
  nodes.insert(nodes.end(), p.nodes.begin(), p.nodes.end());
  return {p.factors[0], sign * p.c};
}

std::optional<Match> softplus(Node& n) {
  if (!n.is("Log")) return std::nullopt;
  Match m{"Softplus", nullptr, 1, {&n}};
  m.x = one_plus_exp(n.input(0), m.nodes);
  return m.x == nullptr ? std::nullopt : std::optional(m);
}

/// n / (1 + Exp(z)) with n = 1 or n = x.
std::optional<Match> quotient(Node& n) {
  const bool reciprocal = n.is("Reciprocal");
  if (!reciprocal && !n.is("Div")) return std::nullopt;
  Match m{"Sigmoid", nullptr, 1, {&n}};
  Value* z = one_plus_exp(n.input(reciprocal ? 0 : 1), m.nodes);
  if (z == nullptr) return std::nullopt;
  const ScalarOperand s = scaled(z, m.nodes);
  m.x = s.x;
  m.alpha = -s.c;
  if (reciprocal || scalar_of(n.input(0)) == 1) return m.alpha == 1 ? std::optional(m) : std::nullopt;
  m.op_type = "Swish";
  return n.input(0) == m.x ? std::optional(m) : std::nullopt;
}

std::optional<Match> product(Node& n) {
  if (!n.is("Mul")) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    Value *x = n.input(i), *g = n.input(1 - i);
    Match m{"Swish", x, 1, {&n}};
    if (Node* sigmoid = made_by(g, "Sigmoid")) {
      m.nodes.push_back(sigmoid);
      const auto alpha = multiple_of(sigmoid->input(0), x, m.nodes);
      if (!alpha) continue;
      m.alpha = *alpha;
      return m;
    }
    Node* tanh = made_by(g, "Tanh");
    Node* inner = tanh == nullptr ? nullptr : made_by(tanh->input(0), "Softplus");
    if (inner == nullptr || inner->input(0) != x) continue;
    m.op_type = "Mish";
    m.nodes.insert(m.nodes.end(), {tanh, inner});
    return m;
  }
  return std::nullopt;
}

bool fuse(Graph& graph, Node& n, PassContext& context) {
  auto m = softplus(n);
  if (!m) m = quotient(n);
  if (!m) m = product(n);
  if (!m) return false;
  const int version = m->op_type == "Swish" ? 24 : m->op_type == "Mish" ? 18 : 13;
  Node* one = fuse_nodes(graph, context, kAtcName, m->nodes, n, m->x, m->op_type, m->op_type, version);
  if (one != nullptr && m->alpha != 1) one->attrs.set("alpha", static_cast<float>(m->alpha));
  return one != nullptr;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if ((n->is("Mul") || n->is("Div") || n->is("Log") || n->is("Reciprocal")) && has_static_shapes(*n) &&
        fuse(graph, *n, context))
      ++changes;
  return changes;
}

}  // namespace

Pass swish_fusion_pass() {
  return {"swish-fusion", kAtcName, "Swish, Mish, Sigmoid and Softplus written out become the operators",
          run};
}

}  // namespace atc::passes
