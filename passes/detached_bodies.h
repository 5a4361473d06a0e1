#pragma once

#include "atc/ir/graph.h"

namespace atc::passes {

/// While it lives, the bodies of our own operators in `graph` have no enclosing graph. They stand alone (what
/// they use is an input), yet each rewrite of the graph asks all nested graphs whether they return the value
/// at hand: with a body a node that makes a pass quadratic. At the end the bodies that the graph's nodes hold
/// then, new ones too, are attached.
class DetachedBodies {
 public:
  explicit DetachedBodies(ir::Graph& graph);
  ~DetachedBodies();
  DetachedBodies(const DetachedBodies&) = delete;
  DetachedBodies& operator=(const DetachedBodies&) = delete;

 private:
  ir::Graph& graph_;
};

}  // namespace atc::passes
