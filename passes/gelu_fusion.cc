#include "passes/gelu_fusion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "GeluFusionPass";
constexpr double kCubic = 0.044715;
const double kTanhScale = std::sqrt(2 / std::numbers::pi);

bool is_power(const Product& p, const Value* x, std::size_t exponent) {
  return p.factors.size() == exponent &&
         std::all_of(p.factors.begin(), p.factors.end(), [&](const Value* f) { return f == x; });
}

/// v = x + kCubic * x^3.
bool is_cubic_sum(Value* v, const Value* x, std::vector<Node*>& nodes) {
  Node* add = made_by(v, "Add");
  for (std::size_t i = 0; add != nullptr && i < 2; ++i) {
    if (add->input(i) != x) continue;
    const Product cube = product_of(add->input(1 - i));
    if (!is_power(cube, x, 3) || !is_about(cube.c, kCubic)) continue;
    nodes.push_back(add);
    nodes.insert(nodes.end(), cube.nodes.begin(), cube.nodes.end());
    return true;
  }
  return false;
}

/// v = 1 + kCubic * x^2.
bool is_square_sum(Value* v, const Value* x, std::vector<Node*>& nodes) {
  Node* add = made_by(v, "Add");
  const auto sum = add == nullptr ? std::nullopt : with_scalar(*add, "Add");
  if (!sum || sum->c != 1) return false;
  const Product square = product_of(sum->x);
  if (!is_power(square, x, 2) || !is_about(square.c, kCubic)) return false;
  nodes.push_back(add);
  nodes.insert(nodes.end(), square.nodes.begin(), square.nodes.end());
  return true;
}

/// c of v = c * (x + kCubic * x^3).
std::optional<double> polynomial(Value* v, const Value* x, std::vector<Node*>& nodes) {
  const Product p = product_of(v);
  nodes.insert(nodes.end(), p.nodes.begin(), p.nodes.end());
  if (p.factors.size() == 1 && is_cubic_sum(p.factors[0], x, nodes)) return p.c;
  for (std::size_t i = 0; p.factors.size() == 2 && i < 2; ++i)
    if (p.factors[i] == x && is_square_sum(p.factors[1 - i], x, nodes)) return p.c;
  return std::nullopt;
}

struct Match {
  bool tanh = false;
  std::vector<Node*> nodes;
};

/// The gate g of c * x * g.
std::optional<Match> gate(Value* g, const Value* x, double c) {
  Match m;
  if (Node* sigmoid = made_by(g, "Sigmoid"); sigmoid != nullptr && c == 1) {
    m.tanh = true;
    m.nodes.push_back(sigmoid);
    const auto k = polynomial(sigmoid->input(0), x, m.nodes);
    return k && is_about(*k, 2 * kTanhScale) ? std::optional(m) : std::nullopt;
  }
  Node* add = made_by(g, "Add");
  const auto sum = add == nullptr ? std::nullopt : with_scalar(*add, "Add");
  if (!sum || sum->c != 1 || c != 0.5) return std::nullopt;
  m.nodes.push_back(add);
  if (Node* erf = made_by(sum->x, "Erf")) {
    m.nodes.push_back(erf);
    const auto k = multiple_of(erf->input(0), x, m.nodes);
    return k && is_about(*k, 1 / std::numbers::sqrt2) ? std::optional(m) : std::nullopt;
  }
  if (Node* tanh = made_by(sum->x, "Tanh")) {
    m.tanh = true;
    m.nodes.push_back(tanh);
    const auto k = polynomial(tanh->input(0), x, m.nodes);
    return k && is_about(*k, kTanhScale) ? std::optional(m) : std::nullopt;
  }
  return std::nullopt;
}

bool fuse(Graph& graph, Node& n, PassContext& context) {
  const Product p = product_of(n.output(0));
  if (p.factors.size() != 2) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    Value* x = p.factors[i];
    auto m = gate(p.factors[1 - i], x, p.c);
    if (!m) continue;
    m->nodes.insert(m->nodes.begin(), p.nodes.begin(), p.nodes.end());
    Node* gelu = fuse_nodes(graph, context, kAtcName, m->nodes, n, x, "Gelu", "Gelu", 20);
    if (gelu != nullptr && m->tanh) gelu->attrs.set("approximate", std::string("tanh"));
    return gelu != nullptr;
  }
  return false;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  // What a match takes away stands before its last node.
  for (Node* n : graph.node_list())
    if ((n->is("Mul") || n->is("Div")) && has_static_shapes(*n) && fuse(graph, *n, context)) ++changes;
  return changes;
}

}  // namespace

Pass gelu_fusion_pass() { return {"gelu-fusion", kAtcName, "GELU written out becomes the operator", run}; }

}  // namespace atc::passes
