#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Each reader dequantizes for itself: 8-bit tensors are stored, not the wide values made of them.
///
///     y = DequantizeLinear(x); a = f(y); b = g(y)    ->    a = f(DequantizeLinear(x)); b =
///     g(DequantizeLinear(x))
///
/// Stays: what the model returns, nested graphs read, or more than one scale belongs to.
Pass dequantize_per_reader_pass();  ///< "dequantize-per-reader"; changes: copies made

}  // namespace atc::passes
