// Order and liveness: Graph::sort, Graph::sweep.
#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include "atc/ir/graph.h"

namespace atc::ir {
namespace {

/// Calls `visit` for each value that `node` needs: its inputs, and what its nested graphs read or return.
void for_each_needed(const Node& node, const std::function<void(const Value*)>& visit) {
  for (const Value* v : node.inputs())
    if (v != nullptr) visit(v);
  for (const auto& body : subgraphs(node)) {
    for (const auto& inner : body->nodes()) for_each_needed(*inner, visit);
    for (const Value* v : body->outputs())
      if (v != nullptr) visit(v);
  }
}

}  // namespace

bool Graph::sort() {
  const std::vector<Node*> nodes = node_list();
  std::unordered_map<const Node*, std::size_t> index;
  for (std::size_t i = 0; i < nodes.size(); ++i) index[nodes[i]] = i;

  std::vector<std::vector<std::size_t>> followers(nodes.size());
  std::vector<std::size_t> waiting(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for_each_needed(*nodes[i], [&](const Value* v) {
      if (v->graph() != this || v->producer() == nullptr) return;
      followers[index.at(v->producer())].push_back(i);
      ++waiting[i];
    });
  }

  // The smallest present index among the ready ones: an ordered graph stays as it is.
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<Node*> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(nodes[i]);
    for (std::size_t f : followers[i])
      if (--waiting[f] == 0) ready.push(f);
  }
  if (order.size() != nodes.size()) return false;
  for (Node* node : order) nodes_.splice(nodes_.end(), nodes_, node->position_);
  return true;
}

void Graph::collect_returned(std::unordered_set<const Value*>& out) const {
  out.insert(outputs_.begin(), outputs_.end());
  for (const Graph* child : children_) child->collect_returned(out);
}

std::size_t Graph::sweep() {
  std::size_t removed = 0;
  for (const auto& node : nodes_)
    for (const auto& body : subgraphs(*node)) removed += body->sweep();

  // One backward walk is enough for a sorted graph, unless a removed node's nested graph returned an
  // outer value.
  for (bool again = true; again;) {
    again = false;
    std::unordered_set<const Value*> returned;
    collect_returned(returned);
    for (auto it = nodes_.end(); it != nodes_.begin();) {
      Node* node = std::prev(it)->get();
      const bool live = std::any_of(node->outputs_.begin(), node->outputs_.end(), [&](const Value* v) {
        return v != nullptr && (!v->uses_.empty() || returned.contains(v));
      });
      if (live) {
        --it;
        continue;
      }
      erase(node);
      ++removed;
      again = true;
    }
  }

  std::unordered_set<const Value*> returned;
  collect_returned(returned);
  std::erase_if(values_, [&](const std::unique_ptr<Value>& v) {
    return v->producer_ == nullptr && !v->is_input_ && v->uses_.empty() && !returned.contains(v.get());
  });
  return removed;
}

}  // namespace atc::ir
