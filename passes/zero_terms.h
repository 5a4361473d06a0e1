#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// What zeros leave nothing of:
///
///     y = x + 0 (floats)                          ->  y = x
///     y = MatMul(x, 0), Conv(x, 0, b), x finite   ->  y = 0, b everywhere
///     LSTM, GRU, RNN with initial states, biases  ->  without these inputs
///     or peepholes of zeros
///
/// Equal as numbers: -0 + 0 is 0. Zero times x is zero only where x is known to hold no infinity and no NaN
/// (finite_values.h), so that none of the model's inputs loses one here. ONNX takes absent states for zeros.
/// Only constants of zeros, of one element or more; x + 0 must not broadcast x.
Pass zero_terms_pass();  ///< "zero-terms"; changes: operators and inputs dropped

}  // namespace atc::passes
