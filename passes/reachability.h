#pragma once

#include <functional>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Positions and dependencies of a graph's nodes as they were when it was made.
class NodeOrder {
 public:
  explicit NodeOrder(const ir::Graph& graph);

  /// Precondition: the node was there.
  int of(const ir::Node* n) const { return position_[static_cast<std::size_t>(n->id())]; }
  /// -1 for nodes of other graphs, and for those that have come since.
  int find(const ir::Node* n) const;
  /// Nodes of the graph whose outputs `n`, or a graph nested in it, reads.
  const std::vector<const ir::Node*>& inputs_of(const ir::Node* n) const {
    return inputs_[static_cast<std::size_t>(n->id())];
  }
  /// Is one of `targets` among `start` or the nodes that they depend on? `group(n)`, where not null, gives
  /// nodes that have to be taken as one with n.
  bool reaches(std::vector<const ir::Node*> start, const std::vector<ir::Node*>& targets,
               const std::function<const std::vector<ir::Node*>*(const ir::Node*)>& group) const;

 private:
  const ir::Graph* graph_;
  // By the nodes' ids, which are unique in a graph and never given again.
  std::vector<int> position_;
  std::vector<std::vector<const ir::Node*>> inputs_;
};

}  // namespace atc::passes
