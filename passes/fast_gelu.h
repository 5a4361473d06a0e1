#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Gelu, where high_performance is asked for it, in a form that takes two thirds of the vector passes; off by
/// 5e-4 at most:
///
///     y = Gelu(x)  ->  y = x * Sigmoid(x * (k + k * 0.044715 * x * x))
///
/// with k = 2 * sqrt(2 / pi) (Hendrycks and Gimpel's tanh form: 1 + tanh(z) = 2 * sigmoid(2 z)), which is
/// what approximate="tanh" is anyway. Stands behind gelu-fusion, which makes the operator of written-out
/// forms.
Pass fast_gelu_pass();  ///< "fast-gelu"

}  // namespace atc::passes
