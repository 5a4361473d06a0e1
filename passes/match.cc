#include "passes/match.h"

#include <algorithm>
#include <cmath>

#include "atc/base/check.h"
#include "ops/op.h"
#include "passes/rewrite.h"

namespace atc::passes {

using ir::Node;
using ir::Value;

namespace {

bool contains(const std::vector<Node*>& nodes, const Node* n) {
  return std::find(nodes.begin(), nodes.end(), n) != nodes.end();
}

void take_apart(Value* v, bool enter, Product& p) {
  Node* n = v->producer();
  if (const auto c = scalar_of(v)) {
    p.c *= *c;
    return;
  }
  const bool room = p.nodes.size() < kMaxFactors && p.factors.size() < kMaxFactors;
  if (room && n != nullptr && (enter || is_private(v))) {
    if (n->is("Mul")) {
      p.nodes.push_back(n);
      // A square is no way out of its operand: what both sides read is a factor.
      if (n->input(0) == n->input(1)) {
        p.factors.insert(p.factors.end(), 2, n->input(0));
        return;
      }
      take_apart(n->input(0), false, p);
      take_apart(n->input(1), false, p);
      return;
    }
    if (const auto c = n->is("Div") ? scalar_of(n->input(1)) : std::nullopt; c && *c != 0) {
      p.nodes.push_back(n);
      p.c /= *c;
      take_apart(n->input(0), false, p);
      return;
    }
    if (const auto e = n->is("Pow") ? scalar_of(n->input(1)) : std::nullopt; e && (*e == 2 || *e == 3)) {
      p.nodes.push_back(n);
      p.factors.insert(p.factors.end(), static_cast<std::size_t>(*e), n->input(0));
      return;
    }
  }
  p.factors.push_back(v);
}

}  // namespace

std::optional<double> scalar_of(const Value* v) {
  if (v == nullptr || !v->is_constant() || v->constant().count() != 1 || !is_float(v->type.dtype))
    return std::nullopt;
  return to_doubles(v->constant())[0];
}

bool is_about(double value, double expected) {
  return std::abs(value - expected) <= 1e-3 * std::abs(expected);
}

Node* made_by(const Value* v, std::string_view op_type) {
  Node* n = v == nullptr ? nullptr : v->producer();
  return n != nullptr && n->is(op_type) ? n : nullptr;
}

std::optional<ScalarOperand> with_scalar(const Node& node, std::string_view op_type) {
  if (!node.is(op_type)) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i)
    if (const auto c = scalar_of(node.input(i))) return ScalarOperand{node.input(1 - i), *c};
  return std::nullopt;
}

bool swaps_last_axes(const Node& n) {
  if (!n.is("Transpose")) return false;
  const Dims perm = n.attrs.get_ints("perm");
  const std::size_t rank = n.input(0)->type.shape->size();
  if (rank < 2 || (!n.attrs.has("perm") && rank != 2)) return false;
  if (!n.attrs.has("perm")) return true;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return perm[rank - 2] == static_cast<std::int64_t>(rank) - 1 &&
         perm[rank - 1] == static_cast<std::int64_t>(rank) - 2;
}

std::optional<std::int64_t> softmax_axis(const Node& softmax) {
  const std::int64_t rank = std::ssize(*softmax.input(0)->type.shape);
  const bool flattens = softmax.version < 13;
  const auto axis = ops::normalize_axis(softmax.attrs.get_int("axis", flattens ? 1 : -1), rank);
  return flattens && axis != rank - 1 ? std::nullopt : axis;
}

std::optional<std::vector<double>> by_channel(const Value* v, const Dims& dims) {
  if (!v->is_constant() || !is_float(v->type.dtype)) return std::nullopt;
  const Dims own = v->type.dims();
  if (own.size() > dims.size()) return std::nullopt;
  const std::size_t missing = dims.size() - own.size();
  for (std::size_t d = 0; d < own.size(); ++d)
    if (own[d] != 1 && (d + missing != 1 || own[d] != dims[1])) return std::nullopt;
  std::vector<double> values = to_doubles(v->constant());
  if (values.size() == 1) values.resize(static_cast<std::size_t>(dims[1]), values[0]);
  return values;
}

Product product_of(Value* v) {
  Product p;
  take_apart(v, true, p);
  return p;
}

std::optional<double> multiple_of(Value* v, const Value* x, std::vector<Node*>& nodes) {
  if (v == x) return 1;
  const Product p = product_of(v);
  if (p.factors.size() != 1 || p.factors[0] != x) return std::nullopt;
  nodes.insert(nodes.end(), p.nodes.begin(), p.nodes.end());
  return p.c;
}

bool is_closed(const std::vector<Node*>& nodes, const Node& last) {
  return std::all_of(nodes.begin(), nodes.end(), [&](const Node* n) {
    if (n == &last) return true;
    return std::all_of(n->outputs().begin(), n->outputs().end(), [&](const Value* v) {
      return v == nullptr || (!v->graph()->is_output(v) &&
                              std::all_of(v->uses().begin(), v->uses().end(),
                                          [&](const Value::Use& u) { return contains(nodes, u.node); }));
    });
  });
}

Node* fuse_nodes(ir::Graph& graph, PassContext& context, std::string_view atc_name,
                 const std::vector<Node*>& nodes, Node& last, Value* x, std::string op_type,
                 std::string_view kind, int version) {
  context.fusions.matched(FusionKind::Graph, atc_name);
  if (x->type != last.output(0)->type || !is_closed(nodes, last)) return nullptr;
  context.fusions.effected(FusionKind::Graph, atc_name);
  return replace_nodes(graph, nodes, last, std::move(op_type), {x}, kind, version);
}

Node* replace_nodes(ir::Graph& graph, const std::vector<Node*>& nodes, Node& last, std::string op_type,
                    std::vector<Value*> inputs, std::string_view kind, int version, std::string domain) {
  Node* one = graph.add_node(std::move(op_type), std::move(inputs), 1, &last, std::move(domain), version);
  one->name = last.name.empty() ? std::string(kind) : last.name + "/" + std::string(kind);
  // In the order in which they stand: what is matched last stands first.
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) add_sources(*one, **it);
  one->output(0)->type = last.output(0)->type;
  replace_value(last.output(0), one->output(0));
  // Readers go before what they read: repeatedly the ones that nobody reads.
  std::vector<Node*> rest;
  for (Node* n : nodes)
    if (!contains(rest, n)) rest.push_back(n);
  while (!rest.empty()) {
    const auto idle = std::find_if(rest.begin(), rest.end(), [](const Node* n) {
      return std::all_of(n->outputs().begin(), n->outputs().end(),
                         [](const Value* v) { return v == nullptr || v->uses().empty(); });
    });
    ATC_CHECK(idle != rest.end(), "a matched pattern is still read");
    graph.erase(*idle);
    rest.erase(idle);
  }
  return one;
}

}  // namespace atc::passes
