#pragma once

#include <vector>

#include "passes/pass.h"

namespace atc::passes {

/// All passes between the frontend (inputs bound) and lowering, in the order in which they run.
std::vector<Pass> pipeline();

}  // namespace atc::passes
