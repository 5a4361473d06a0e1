#include "passes/fast_gelu.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr double kCubic = 0.044715;
constexpr int kMaxFactors = 3;

bool is_private(const Value* v) {
  return v->producer() != nullptr && v->uses().size() == 1 && !v->graph()->is_output(v);
}

std::optional<double> scalar_of(const Value* v) {
  if (v == nullptr || !v->is_constant() || v->constant().count() != 1 || !is_float(v->type.dtype))
    return std::nullopt;
  return to_doubles(v->constant())[0];
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b); }

// v = x * factor with a constant factor.
struct Scaled {
  Value* x = nullptr;
  double factor = 1;
};
std::optional<Scaled> scaled(const Value* v) {
  const Node* n = v->producer();
  if (n == nullptr) return std::nullopt;
  if (n->is("Mul"))
    for (std::size_t i = 0; i < 2; ++i)
      if (const auto c = scalar_of(n->input(i))) return Scaled{n->input(1 - i), *c};
  if (n->is("Div"))
    if (const auto c = scalar_of(n->input(1)); c && *c != 0) return Scaled{n->input(0), 1 / *c};
  return std::nullopt;
}

/// 0.5 * x * (1 + curve(..)).
struct Match {
  Value* x = nullptr;
  std::vector<Node*> nodes;  // behind the curve; the last one makes the result
};

// Factors of 1 + curve one after the other until they are x and a half. `wanted`: what x must be, or null.
std::optional<Match> product_behind(Node& curve, const Value* wanted) {
  if (!is_private(curve.output(0))) return std::nullopt;
  Node* one = curve.output(0)->uses()[0].node;
  if (!one->is("Add")) return std::nullopt;
  const auto offset = scalar_of(one->input(0) == curve.output(0) ? one->input(1) : one->input(0));
  if (!offset || *offset != 1) return std::nullopt;
  Match m{nullptr, {one}};
  double half = 1;
  for (int i = 0; i < kMaxFactors; ++i) {
    const Value* v = m.nodes.back()->output(0);
    if (!is_private(v)) return std::nullopt;
    Node* n = v->uses()[0].node;
    if (!n->is("Mul") || n->graph() != curve.graph()) return std::nullopt;
    Value* other = n->input(0) == v ? n->input(1) : n->input(0);
    m.nodes.push_back(n);
    if (const auto c = scalar_of(other)) {
      half *= *c;
    } else if (m.x == nullptr) {
      const auto inside = scaled(other);
      const bool takes_inside =
          inside && (wanted != nullptr ? inside->x == wanted : near(inside->factor, 0.5));
      m.x = takes_inside ? inside->x : other;
      if (takes_inside) half *= inside->factor;
      if (wanted != nullptr && m.x != wanted) return std::nullopt;
    } else {
      return std::nullopt;
    }
    if (m.x != nullptr && near(half, 0.5)) return m;
  }
  return std::nullopt;
}

// x * (k + k * 0.044715 * x * x), twice what the tanh form takes the tangent of.
Value* tanh_argument(NodeWriter& w, Value* x) {
  const double k = 2 * std::sqrt(2 / std::numbers::pi);
  const DType dtype = x->type.dtype;
  Value* square = w.binary("Mul", x, x, x, "square");
  Value* cubic = w.binary("Mul", square, w.scalar(k * kCubic, dtype, "k3"), x, "cubic");
  Value* factor = w.binary("Add", cubic, w.scalar(k, dtype, "k1"), x, "factor");
  return w.binary("Mul", x, factor, x, "argument");
}

bool rewrite(Graph& g, Node& n, PassContext& context) {
  const NodePrecision* asked = context.options.node_precisions.find(n);
  if (asked == nullptr || !asked->fast) return false;
  Node* last = &n;
  Value* x = nullptr;
  std::vector<Node*> nodes;
  if (n.is("Gelu")) {
    x = n.input(0);
  } else if (n.is("Erf")) {
    const auto inner = scaled(n.input(0));
    if (!inner || !near(inner->factor, 1 / std::numbers::sqrt2)) return false;
    const auto m = product_behind(n, inner->x);
    if (!m) return false;
    x = m->x;
    nodes = m->nodes;
  } else if (n.is("Tanh")) {
    const auto m = product_behind(n, nullptr);
    if (!m) return false;
    x = m->x;
    nodes = m->nodes;
  } else {
    return false;
  }
  const DType dtype = x->type.dtype;
  if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16) return false;
  if (!nodes.empty()) last = nodes.back();
  if (!has_static_shapes(*last) || x->type.dims() != last->output(0)->type.dims()) return false;

  if (last != &n) {
    if (is_private(n.input(0))) add_sources(*last, *n.input(0)->producer());
    add_sources(*last, n);
  }
  for (Node* k : nodes)
    if (k != last) add_sources(*last, *k);
  context.precision.changes.push_back({PrecisionChange::Kind::Faster, last->output(0)->name(), "Gelu",
                                       last->sources,
                                       asked->option + ": Gelu by Sigmoid, off by 5e-4 at most"});
  NodeWriter w(g, *last);
  Value* argument = n.is("Tanh") ? w.binary("Mul", n.input(0), w.scalar(2, dtype, "two"), x, "argument")
                                 : tanh_argument(w, x);
  w.finish(w.binary("Mul", x, w.unary("Sigmoid", argument, "gate"), x, "Gelu"));
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  if (context.options.node_precisions.empty()) return 0;
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->domain.empty() && (n->is("Gelu") || n->is("Erf") || n->is("Tanh")) && rewrite(graph, *n, context))
      ++changes;
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass fast_gelu_pass() {
  return {"fast-gelu", "", "Gelu takes its faster form where high_performance is asked for", run};
}

}  // namespace atc::passes
