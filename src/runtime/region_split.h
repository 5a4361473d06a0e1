#pragma once

#include <memory>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"

namespace atc::runtime {

/// A graph for given inputs, divided by what can be done at once.
struct RegionSplit {
  std::unique_ptr<ir::Graph> graph;  ///< typed for the inputs, folded
  std::vector<std::size_t> bound;    ///< inputs whose elements it was folded with
  std::vector<ir::Node*> fixed;      ///< static: can be planned as a whole
  std::vector<ir::Node*> evaluated;  ///< made from inputs and `fixed`: control flow, outputs of open size
  std::vector<ir::Node*> remaining;  ///< all others, in order
};

/// Types a copy of the graph for these inputs. Where a shape depends on the elements of an input (a Reshape
/// whose shape is fed), they are taken as constants. E16006 and the like when the inputs do not fit.
StatusOr<RegionSplit> split_region(const ir::Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace atc::runtime
