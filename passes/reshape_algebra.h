#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Nodes that keep the order of the elements become as few Reshapes as can be, and stand where they hold
/// nothing apart:
///
///     y = Unsqueeze(Reshape(x))                     ->  y = Reshape(x), or x where the dims are the same
///     y = Transpose(x), only axes of length 1 move  ->  y = Reshape(x)
///     y = Expand(x), only axes of length 1 come     ->  y = Reshape(x)
///     y = Reshape(MatMul(Reshape(x), W))            ->  y = MatMul(Reshape(x), W)
///     y = Reshape(Add(Reshape(a), b))               ->  y = Add(Reshape(a), Reshape(b))
///
/// In the last two the Reshape goes up through elementwise operators and products with a matrix, whose
/// columns it leaves alone, only where it meets another one, a product or a constant on every way: a
/// convolution must stay beside what it is fused with. What others read too is not moved.
Pass reshape_algebra_pass();  ///< "reshape-algebra"; changes: nodes rewritten

}  // namespace atc::passes
