#pragma once

#include <map>
#include <vector>

#include "atc/base/status.h"
#include "atc/base/tensor.h"
#include "atc/ir/graph.h"

namespace atc::conformance {

/// Tensors of values while a graph is evaluated.
using Environment = std::map<const ir::Value*, Tensor>;

/// Evaluates the nodes of `graph` in order with the reference of each operator. `environment` holds the
/// graph's inputs (and, in a subgraph, outer values) and receives every value that is computed.
Status evaluate(const ir::Graph& graph, Environment& environment);

}  // namespace atc::conformance
