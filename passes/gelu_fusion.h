#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// GELU written out becomes the operator, in the exact form and in the one by Tanh:
///
///     y = x * 0.5 * (1 + Erf(x / sqrt(2)))                              ->    y = Gelu(x)
///     y = x * 0.5 * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))     ->    y = Gelu(x){approximate=tanh}
///     y = x * Sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x^3))          ->    y = Gelu(x){approximate=tanh}
///
/// Products in any order and grouping, Div or Mul, x^3 by Pow or Mul, x * (1 + 0.044715 * x^2) too. Not where
/// a constant is another one, or where something else reads a value in between.
Pass gelu_fusion_pass();  ///< "gelu-fusion"; changes: GELUs made

}  // namespace atc::passes
