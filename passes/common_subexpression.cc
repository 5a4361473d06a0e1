#include "passes/common_subexpression.h"

#include <unordered_map>

#include "ops/op.h"
#include "passes/rewrite.h"
#include "passes/structure.h"

namespace atc::passes {
namespace {

/// What one graph has computed so far, and its enclosing graphs before the node that holds it.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::uint64_t, std::vector<ir::Node*>> nodes = {};
  std::unordered_map<std::uint64_t, std::vector<ir::Value*>> constants = {};
};

bool is_pure(const ir::Node& node) {
  if (!ir::subgraphs(node).empty()) return false;
  const ops::OpDef* def = ops::Registry::instance().find(node);
  return def != nullptr && def->foldable;
}

bool can_merge(const ir::Node& node, const ir::Node& into) {
  for (std::size_t i = 0; i < node.outputs().size(); ++i)
    if (node.output(i) != nullptr && !can_replace(node.output(i), into.output(i))) return false;
  return true;
}

bool merge_node(ir::Node* node, Scope& scope) {
  if (!is_pure(*node)) return false;
  const std::uint64_t key = hash(*node);
  for (const Scope* s = &scope; s != nullptr; s = s->outer) {
    const auto it = s->nodes.find(key);
    if (it == s->nodes.end()) continue;
    for (ir::Node* earlier : it->second) {
      if (!same(*node, *earlier) || !can_merge(*node, *earlier)) continue;
      for (std::size_t i = 0; i < node->outputs().size(); ++i)
        if (node->output(i) != nullptr) replace_value(node->output(i), earlier->output(i));
      add_sources(*earlier, *node);
      node->graph()->erase(node);
      return true;
    }
  }
  scope.nodes[key].push_back(node);
  return false;
}

bool merge_constant(ir::Value* v, Scope& scope) {
  const std::uint64_t key = hash(v->constant());
  for (const Scope* s = &scope; s != nullptr; s = s->outer) {
    const auto it = s->constants.find(key);
    if (it == s->constants.end()) continue;
    for (ir::Value* earlier : it->second) {
      if (v->type != earlier->type || !same(v->constant(), earlier->constant()) || !can_replace(v, earlier))
        continue;
      replace_value(v, earlier);
      return true;
    }
  }
  scope.constants[key].push_back(v);
  return false;
}

int merge_graph(ir::Graph& graph, const Scope* outer) {
  Scope scope{outer};
  int changes = 0;
  for (ir::Value* v : graph.values())
    if (v->is_constant() && graph.is_used(v) && merge_constant(v, scope)) ++changes;
  for (ir::Node* node : graph.node_list()) {
    // Bodies of our own operators stand alone: what they use is an input.
    for (const auto& body : ir::subgraphs(*node))
      changes += merge_graph(*body, node->domain == "atc" ? nullptr : &scope);
    if (merge_node(node, scope)) ++changes;
  }
  return changes;
}

StatusOr<int> run(ir::Graph& graph, PassContext&) {
  const int changes = merge_graph(graph, nullptr);
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass common_subexpression_pass() {
  return {
      .name = "common-subexpression", .summary = "Equal nodes and equal constants become one", .run = run};
}

}  // namespace atc::passes
