#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Gelu by Erf, where high_performance is asked for it, in a form that takes two thirds of the vector
/// passes; off by 5e-4 at most:
///
///     y = Gelu(x), or x * 0.5 * (1 + Erf(x / sqrt(2)))  ->  y = x * Sigmoid(x * (k + k * 0.044715 * x * x))
///
/// with k = 2 * sqrt(2 / pi) (Hendrycks and Gimpel's tanh form: 1 + tanh(z) = 2 * sigmoid(2 z)). Gelu by Tanh
/// that is written out becomes y = x * Sigmoid(2 z), which is the same function.
///
/// Not where a part of the written-out form has other readers.
Pass fast_gelu_pass();  ///< "fast-gelu"

}  // namespace atc::passes
