#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Softmax does not see what is taken from every element of a row, and its kernel takes the maximum itself:
///
///     y = Softmax(x - ReduceMax(x, axis))  ->  y = Softmax(x)     (LogSoftmax alike)
///
/// Fires only where the maximum is taken along exactly the axis of the Softmax and kept as a 1, and x is the
/// same value on both sides. Any other shift stays: added to x it could leave the range of the type.
Pass softmax_shift_pass();  ///< "softmax-shift"; changes: subtractions dropped

}  // namespace atc::passes
