#include "passes/gate_merge.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/body.h"
#include "passes/joined_constants.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "CellGateFusionPass";
constexpr int kOpset = 13;             // of the nodes written here
constexpr std::size_t kMaxNodes = 12;  // of a gate: longer sums are no cell's

/// A sum of products and biases.
struct Gate {
  Node* root = nullptr;         // the last Add
  std::vector<Node*> nodes;     // readers before what they read
  std::vector<Node*> products;  // by the number of what they read
  std::vector<const Value*> biases;
  std::int64_t columns() const { return root->output(0)->type.dims().back(); }
};

/// One number a column, or one for all.
bool is_bias(const Value* v, std::int64_t columns) {
  if (!v->is_constant() || !is_float(v->type.dtype)) return false;
  const std::int64_t count = v->constant().count();
  return count == 1 || (count == columns && v->type.dims().back() == columns);
}

bool take(Value* v, Gate& g) {
  const std::int64_t columns = g.columns();
  if (is_bias(v, columns)) {
    g.biases.push_back(v);
    return true;
  }
  Node* n = v->producer();
  if (n == nullptr || (n != g.root && !is_private(v)) || v->type != g.root->output(0)->type) return false;
  if (g.nodes.size() == kMaxNodes) return false;
  g.nodes.push_back(n);
  if (n->is("Add")) return take(n->input(0), g) && take(n->input(1), g);
  if (!n->is("MatMul") || !n->input(1)->is_constant() || n->input(1)->type.shape->size() != 2) return false;
  g.products.push_back(n);
  return true;
}

bool feeds_elementwise(const Value* v) {
  if (v->graph()->is_output(v)) return false;
  return std::all_of(v->uses().begin(), v->uses().end(), [&](const Value::Use& use) {
    if (use.node->graph() != v->graph() || !has_static_shapes(*use.node)) return false;
    const auto axes = ops::vector_reduce_axes(*use.node);
    return axes && axes->empty() && ops::is_vectorizable(*use.node);
  });
}

std::optional<Gate> gate_of(Node& n) {
  const DType dtype = n.output(0)->type.dtype;
  if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16) return std::nullopt;
  if (n.output(0)->type.dims().empty() || !feeds_elementwise(n.output(0))) return std::nullopt;
  Gate g;
  g.root = &n;
  if (!take(n.output(0), g) || g.products.size() < 2) return std::nullopt;
  std::sort(g.products.begin(), g.products.end(),
            [](const Node* a, const Node* b) { return a->input(0)->id() < b->input(0)->id(); });
  return g;
}

class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph) {}

  int merge(const std::vector<Gate>& gates) {
    // Everything that the products read stands in front of the first sum.
    Node* before = gates[0].root;
    const ir::TensorType one = before->output(0)->type;
    ir::TensorType type = one;
    const std::int64_t columns = one.dims().back() * std::ssize(gates);
    type.shape->back() = ir::Dim::of(columns);
    std::vector<Node*> made;
    const auto insert = [&](const char* op, std::vector<Value*> inputs, const char* suffix) {
      Node* n = graph_.add_node(op, std::move(inputs), 1, before, {}, kOpset);
      n->name = gates[0].root->name + "/" + suffix;
      n->output(0)->type = type;
      made.push_back(n);
      return n->output(0);
    };
    Value* sum = nullptr;
    for (std::size_t i = 0; i < gates[0].products.size(); ++i) {
      Value* product = insert("MatMul", {gates[0].products[i]->input(0), matrices(gates, i)}, "gates");
      for (const Gate& g : gates) add_sources(*made.back(), *g.products[i]);
      sum = sum == nullptr ? product : insert("Add", {sum, product}, "sum");
    }
    if (Value* bias = biases(gates)) sum = insert("Add", {sum, bias}, "bias");
    for (const Gate& g : gates)
      for (auto n = g.nodes.rbegin(); n != g.nodes.rend(); ++n)
        if ((*n)->is("Add")) add_sources(*made.back(), **n);
    const Dims parts(gates.size(), one.dims().back());
    Value* lengths =
        graph_.add_constant(before->name + "/lengths", from_int64s(DType::I64, {std::ssize(parts)}, parts));
    Node* split =
        graph_.add_node("Split", {sum, lengths}, static_cast<int>(parts.size()), before, {}, kOpset);
    split->name = before->name + "/split";
    split->attrs.set("axis", std::ssize(*one.shape) - 1);
    for (std::size_t i = 0; i < gates.size(); ++i) {
      split->output(i)->type = one;
      replace_value(gates[i].root->output(0), split->output(i));
    }
    for (const Gate& g : gates)
      for (Node* n : g.nodes) graph_.erase(n);
    return static_cast<int>(gates.size()) - 1;
  }

 private:
  /// The matrices of product i.
  Value* matrices(const std::vector<Gate>& gates, std::size_t i) {
    std::vector<const Value*> parts;
    for (const Gate& g : gates) parts.push_back(g.products[i]->input(1));
    Value*& joined = joined_[parts];
    if (joined != nullptr) return joined;
    return joined = passes::side_by_side(graph_, parts);
  }

  /// The sums of each gate's biases; null when there are none.
  Value* biases(const std::vector<Gate>& gates) {
    std::vector<const Value*> key;
    for (const Gate& g : gates) {
      key.insert(key.end(), g.biases.begin(), g.biases.end());
      key.push_back(nullptr);
    }
    if (key.size() == gates.size()) return nullptr;
    Value*& joined = joined_[key];
    if (joined != nullptr) return joined;
    std::vector<double> all;
    for (const Gate& g : gates) {
      std::vector<double> sum(static_cast<std::size_t>(g.columns()), 0.0);
      for (const Value* v : g.biases) {
        const std::vector<double> b = to_doubles(v->constant());
        for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += b.size() == 1 ? b[0] : b[c];
      }
      all.insert(all.end(), sum.begin(), sum.end());
    }
    const DType dtype = gates[0].root->output(0)->type.dtype;
    return joined = graph_.add_constant(gates[0].root->name + "/biases",
                                        from_doubles(dtype, {std::ssize(all)}, all));
  }

  Graph& graph_;
  std::map<std::vector<const Value*>, Value*> joined_;  // looked up only
};

/// Products of the same values with matrices of the same shapes.
bool alike(const Gate& a, const Gate& b) {
  if (a.root->output(0)->type != b.root->output(0)->type || a.products.size() != b.products.size())
    return false;
  for (std::size_t i = 0; i < a.products.size(); ++i)
    if (a.products[i]->input(0) != b.products[i]->input(0) ||
        a.products[i]->input(1)->type != b.products[i]->input(1)->type)
      return false;
  return true;
}

/// Outermost sums, in graph order.
std::vector<Gate> gates_of(const Graph& graph) {
  std::vector<Gate> gates;
  std::set<const Node*> taken;
  const std::vector<Node*> nodes = graph.node_list();
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
    if (!(*n)->is("Add") || taken.contains(*n) || !has_static_shapes(**n)) continue;
    auto g = gate_of(**n);
    if (!g) continue;
    taken.insert(g->nodes.begin(), g->nodes.end());
    gates.push_back(std::move(*g));
  }
  std::reverse(gates.begin(), gates.end());
  return gates;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  std::vector<std::vector<Gate>> cells;
  std::map<int, std::vector<std::size_t>> by_input;  // number of the first product's operand: cells
  for (Gate& g : gates_of(graph)) {
    auto& candidates = by_input[g.products[0]->input(0)->id()];
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](std::size_t i) { return alike(cells[i][0], g); });
    if (same != candidates.end()) {
      cells[*same].push_back(std::move(g));
    } else {
      candidates.push_back(cells.size());
      cells.emplace_back().push_back(std::move(g));
    }
  }
  Merger merger(graph);
  int changes = 0;
  for (const std::vector<Gate>& gates : cells) {
    if (gates.size() < 2) continue;
    context.fusions.matched(FusionKind::Graph, kAtcName);
    changes += merger.merge(gates);
    context.fusions.effected(FusionKind::Graph, kAtcName);
  }
  return changes;
}

}  // namespace

Pass gate_merge_pass() {
  return {"gate-merge", kAtcName, "gates of a recurrent cell written out share their products", run};
}

}  // namespace atc::passes
