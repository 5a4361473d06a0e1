#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Sigmoid, Swish (SiLU) and Mish written out become the operators:
///
///     y = x * Sigmoid(a * x)                        ->    y = Swish(x){alpha=a}
///     y = x / (1 + Exp(-a * x))                     ->    y = Swish(x){alpha=a}
///     y = 1 / (1 + Exp(-x))                         ->    y = Sigmoid(x)
///     y = Log(1 + Exp(x))                           ->    y = Softplus(x)
///     y = x * Tanh(Softplus(x))                     ->    y = Mish(x)
///
/// Products in any order, Div or Mul. Not where something else reads a value in between.
Pass swish_fusion_pass();  ///< "swish-fusion"; changes: activations made

}  // namespace atc::passes
