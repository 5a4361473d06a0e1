#include "passes/reachability.h"

#include <algorithm>
#include <unordered_set>

namespace atc::passes {
namespace {

void collect(const ir::Node& node, const ir::Graph& graph, std::vector<const ir::Node*>& out) {
  auto add = [&](const ir::Value* v) {
    if (v == nullptr || v->producer() == nullptr || v->producer()->graph() != &graph) return;
    if (std::find(out.begin(), out.end(), v->producer()) == out.end()) out.push_back(v->producer());
  };
  for (const ir::Value* v : node.inputs()) add(v);
  for (const auto& sub : ir::subgraphs(node)) {
    for (const auto& inner : sub->nodes()) collect(*inner, graph, out);
    for (const ir::Value* v : sub->outputs()) add(v);
  }
}

}  // namespace

NodeOrder::NodeOrder(const ir::Graph& graph) : graph_(&graph) {
  int i = 0;
  for (const auto& n : graph.nodes()) {
    const auto id = static_cast<std::size_t>(n->id());
    if (id >= position_.size()) {
      position_.resize(id + 1, -1);
      inputs_.resize(id + 1);
    }
    position_[id] = i++;
    collect(*n, graph, inputs_[id]);
  }
}

int NodeOrder::find(const ir::Node* n) const {
  const auto id = static_cast<std::size_t>(n->id());
  return n->graph() == graph_ && id < position_.size() ? position_[id] : -1;
}

bool NodeOrder::reaches(std::vector<const ir::Node*> start, const std::vector<ir::Node*>& targets,
                        const std::function<const std::vector<ir::Node*>*(const ir::Node*)>& group) const {
  if (start.empty()) return false;
  int first = of(targets.front());
  for (const ir::Node* t : targets) first = std::min(first, of(t));
  std::unordered_set<const ir::Node*> seen;
  auto push = [&](const ir::Node* n) {
    if (seen.insert(n).second) start.push_back(n);
  };
  std::vector<const ir::Node*> initial;
  initial.swap(start);
  for (const ir::Node* n : initial) push(n);
  while (!start.empty()) {
    const ir::Node* n = start.back();
    start.pop_back();
    if (std::find(targets.begin(), targets.end(), n) != targets.end()) return true;
    const std::vector<ir::Node*>* members = group(n);
    // Nodes before the first target cannot depend on any; a group may reach further than one member.
    if (members != nullptr) {
      for (const ir::Node* m : *members) push(m);
    }
    if (of(n) < first) continue;
    for (const ir::Node* p : inputs_of(n)) push(p);
  }
  return false;
}

}  // namespace atc::passes
