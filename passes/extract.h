#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// A copy that stands alone, and the values of the original that its inputs stand for, in their order.
struct Extracted {
  std::unique_ptr<ir::Graph> graph;
  std::vector<ir::Value*> inputs;
};

/// Copies nodes of one graph, given in topological order, with their nested graphs. `outputs`, made by them,
/// become the copy's outputs. What the nodes and their nested graphs read from elsewhere become inputs;
/// constants of up to `max_constant_bytes` are copied (sharing their bytes), larger ones become inputs too,
/// those of nested graphs as constants added to the original graph.
Extracted extract(const std::vector<ir::Node*>& nodes, const std::vector<ir::Value*>& outputs,
                  std::int64_t max_constant_bytes = INT64_MAX);

/// Copies a nested graph. Values of enclosing graphs become inputs behind its own, and are what
/// Extracted::inputs lists; their constants are copied.
Extracted stand_alone(const ir::Graph& body);

/// Every value of an enclosing graph that `body` or a graph nested in it reads or returns, once, in order.
std::vector<ir::Value*> outer_values(const ir::Graph& body);

}  // namespace atc::passes
