#pragma once

#include <vector>

#include "passes/pass.h"

namespace atc::passes {

/// The first passes: shape arithmetic goes, every value has a type, nothing is computed twice. What is left
/// are ONNX operators still.
std::vector<Pass> canonical_passes();

/// All passes between the frontend (inputs bound) and lowering, in the order in which they run.
std::vector<Pass> pipeline();

}  // namespace atc::passes
