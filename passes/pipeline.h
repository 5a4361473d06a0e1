#pragma once

#include <vector>

#include "passes/pass.h"

namespace atc::passes {

/// The first passes: shape arithmetic goes, every value has a type, nothing is computed twice. What is left
/// are ONNX operators still.
std::vector<Pass> canonical_passes();

/// Operators that move elements, sums and products with constants, Casts: what exporters write in many ways
/// becomes one. A group that repeats until nothing changes. Shapes are static, or it leaves the nodes alone.
std::vector<Pass> simplifying_passes();

/// Recognisers of operators that exporters write out, before others are written out here. Each makes a node
/// that is called after the last node that it stands for and its kind: "Mul_105/Gelu".
std::vector<Pass> written_out_passes();

/// All passes between the frontend (inputs bound) and lowering, in the order in which they run.
std::vector<Pass> pipeline();

}  // namespace atc::passes
