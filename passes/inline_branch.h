#pragma once

#include <memory>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// The branch of an `If` whose condition is a constant; null for other nodes.
std::shared_ptr<ir::Graph> constant_branch(const ir::Node& node);

/// Puts the nodes of `branch` in place of `node`, whose outputs become the branch's, and erases `node`.
/// Returns the new nodes in order. An output of the model keeps its name, by an Identity if need be.
std::vector<ir::Node*> inline_branch(ir::Node* node, const std::shared_ptr<ir::Graph>& branch);

}  // namespace atc::passes
