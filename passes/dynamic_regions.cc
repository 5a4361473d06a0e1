#include "passes/dynamic_regions.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "passes/extract.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::int64_t kMaxConstantBytes = 1024;

bool is_dynamic(const Node& n) {
  if (n.domain == "atc" && !n.is_internal("Custom")) return false;
  if (!ir::subgraphs(n).empty()) return true;
  const auto open = [](const Value* v) { return v != nullptr && !v->type.is_static(); };
  return std::any_of(n.inputs().begin(), n.inputs().end(), open) ||
         std::any_of(n.outputs().begin(), n.outputs().end(), open);
}

/// What a node reads, its nested graphs included.
std::vector<const Value*> reads_of(const Node& n) {
  std::vector<const Value*> out(n.inputs().begin(), n.inputs().end());
  for (const auto& body : ir::subgraphs(n))
    for (const Value* v : outer_values(*body)) out.push_back(v);
  return out;
}

/// Dynamic nodes by level: how many static stretches lie before them. Those of one level are convex: a path
/// from one to another through a static node would end on a higher level.
std::map<int, std::vector<Node*>> levels_of(const Graph& graph) {
  std::map<int, std::vector<Node*>> levels;
  std::unordered_map<const Node*, int> level;
  std::unordered_set<const Node*> dynamic;
  for (const auto& n : graph.nodes()) {
    const bool is = is_dynamic(*n);
    int own = 0;
    for (const Value* v : reads_of(*n)) {
      const Node* from = v == nullptr ? nullptr : v->producer();
      const auto known = level.find(from);
      if (known == level.end()) continue;
      own = std::max(own, known->second + (!is && dynamic.contains(from) ? 1 : 0));
    }
    level[n.get()] = own;
    if (!is) continue;
    dynamic.insert(n.get());
    levels[own].push_back(n.get());
  }
  return levels;
}

void move_to_region(Graph& graph, const std::vector<Node*>& nodes) {
  const std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
  const auto is_outside = [&](const Value::Use& use) {
    const Node* reader = use.node;
    while (reader != nullptr && reader->graph() != &graph) {
      // A reader in a nested graph counts as the node that holds the graph.
      const Graph* nested = reader->graph();
      reader = nullptr;
      for (const auto& n : nested->parent()->nodes())
        for (const auto& body : ir::subgraphs(*n))
          if (body.get() == nested) reader = n.get();
    }
    return !inside.contains(reader);
  };
  std::vector<Value*> outputs;
  for (Node* n : nodes)
    for (Value* v : n->outputs()) {
      if (v == nullptr) continue;
      const bool leaves = graph.is_output(v) || std::any_of(v->uses().begin(), v->uses().end(), is_outside);
      if (leaves) outputs.push_back(v);
    }
  Extracted region = extract(nodes, outputs, kMaxConstantBytes);
  region.graph->name = "region";
  region.graph->set_parent(&graph);
  Node* node = graph.add_node("Region", region.inputs, static_cast<int>(outputs.size()), nullptr, "atc", 0);
  node->attrs.set("body", std::shared_ptr<Graph>(std::move(region.graph)));
  node->name = nodes.front()->name;
  for (const Node* n : nodes) node->sources.insert(node->sources.end(), n->sources.begin(), n->sources.end());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    node->output(i)->set_name(outputs[i]->name());
    node->output(i)->type = outputs[i]->type;
    graph.replace_uses(outputs[i], node->output(i));
  }
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) graph.erase(*n);
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int moved = 0;
  for (const auto& [level, nodes] : levels_of(graph)) {
    move_to_region(graph, nodes);
    moved += static_cast<int>(nodes.size());
  }
  if (moved > 0) graph.sort();
  return moved;
}

}  // namespace

Pass dynamic_regions_pass() {
  return {.name = "dynamic-regions",
          .summary = "What depends on data is kept for the runtime to compile",
          .run = run};
}

}  // namespace atc::passes
