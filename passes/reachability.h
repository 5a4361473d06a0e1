#pragma once

#include <functional>
#include <map>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Positions and dependencies of a graph's nodes as they were when it was made.
class NodeOrder {
 public:
  explicit NodeOrder(const ir::Graph& graph);

  int of(const ir::Node* n) const { return position_.at(n); }
  /// Nodes of the graph whose outputs `n`, or a graph nested in it, reads.
  const std::vector<const ir::Node*>& inputs_of(const ir::Node* n) const { return inputs_.at(n); }
  /// Is one of `targets` among `start` or the nodes that they depend on? `group(n)`, where not null, gives
  /// nodes that have to be taken as one with n.
  bool reaches(std::vector<const ir::Node*> start, const std::vector<ir::Node*>& targets,
               const std::function<const std::vector<ir::Node*>*(const ir::Node*)>& group) const;

 private:
  std::map<const ir::Node*, int> position_;
  std::map<const ir::Node*, std::vector<const ir::Node*>> inputs_;
};

}  // namespace atc::passes
