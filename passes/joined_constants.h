#pragma once

#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// A constant of matrices of the same rows and dtype side by side (of rows, one behind the other), called
/// after all of them: "a+b". Its bytes are made when they are read.
ir::Value* side_by_side(ir::Graph& graph, const std::vector<const ir::Value*>& parts);

}  // namespace atc::passes
