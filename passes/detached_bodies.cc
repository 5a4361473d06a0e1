#include "passes/detached_bodies.h"

namespace atc::passes {
namespace {

std::vector<std::shared_ptr<ir::Graph>> bodies_of(const ir::Graph& graph) {
  std::vector<std::shared_ptr<ir::Graph>> out;
  for (const auto& n : graph.nodes())
    if (n->domain == "atc")
      for (auto& body : ir::subgraphs(*n)) out.push_back(std::move(body));
  return out;
}

}  // namespace

DetachedBodies::DetachedBodies(ir::Graph& graph) : graph_(graph) {
  const auto bodies = bodies_of(graph);
  // The last one first, which is found at once.
  for (auto it = bodies.rbegin(); it != bodies.rend(); ++it) (*it)->set_parent(nullptr);
}

DetachedBodies::~DetachedBodies() {
  for (const auto& body : bodies_of(graph_)) body->set_parent(&graph_);
}

}  // namespace atc::passes
