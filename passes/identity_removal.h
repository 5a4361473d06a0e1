#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Removes nodes that return their input bit for bit:
/// Identity; Dropout in inference; Cast to the same type; Reshape, Flatten, Squeeze, Unsqueeze, Expand and
/// Tile to the same shape; Transpose that keeps the order; Pad by nothing; Slice of all; Concat, Sum, Mean,
/// Max and Min of one input; Split into one; Clip without bounds; Resize to the size that is there; x + 0
/// (integers; floats only with -0), x - 0, x * 1, x / 1, x ^ 1, x And true, x Or false.
///
///     y = Identity(x); z = Relu(y)    ->    z = Relu(x)
///
/// Stays where the model's output would lose its name: an input of the model returned as its output, or
/// one value returned under two names.
Pass identity_removal_pass();  ///< "identity-removal"; changes: nodes removed

}  // namespace atc::passes
