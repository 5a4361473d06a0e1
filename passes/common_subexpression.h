#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Nodes that compute the same from the same inputs become one; equal constants become one. A nested graph
/// uses what its enclosing graphs have computed before it. Random operators and operators with nested
/// graphs stay, and so do two outputs of the model, which need two names.
///
///     a = Relu(x); b = Relu(x); c = Add(a, b)    ->    a = Relu(x); c = Add(a, a)
Pass common_subexpression_pass();  ///< "common-subexpression"; changes: nodes and constants removed

}  // namespace atc::passes
