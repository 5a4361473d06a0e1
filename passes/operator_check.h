#pragma once

#include "atc/base/status.h"
#include "atc/ir/graph.h"

namespace atc::passes {

/// Whether `If` nodes and what is in their branches are looked at: while a condition may still become a
/// constant, only the branch that remains counts.
enum class Conditionals { Check, Skip };

/// E16002 naming every operator type of the graph and its nested graphs that the registry does not have,
/// with how many nodes there are and what they are called.
Status check_operators(const ir::Graph& graph, Conditionals conditionals = Conditionals::Check);

}  // namespace atc::passes
