#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Removes nodes and constants that no output of the graph needs, in nested graphs too. Inputs stay.
Pass dead_code_pass();  ///< "dead-code"; changes: nodes removed

}  // namespace atc::passes
