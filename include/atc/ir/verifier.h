#pragma once

#include <string>

#include "atc/ir/graph.h"

namespace atc::ir {

/// Checks the graph's invariants: topological order, use lists equal to the inputs, outputs owned by
/// their producers, no value of a foreign graph (outer ones in subgraphs apart), storage formats
/// legal for the rank, constants of the size their type says. Returns "" or the first fault: a fault
/// here is a bug of a pass, never of the user.
std::string verify(const Graph& graph);

}  // namespace atc::ir
