#pragma once

#include "atc/base/status.h"
#include "atc/base/tensor.h"
#include "base/small_float.h"

namespace atc::ops {

struct CastOptions {
  Overflow overflow = Overflow::Saturate;  ///< 8-bit float targets
  E8M0Round round = E8M0Round::Up;         ///< F8E8M0 targets
  /// Whether saturation takes infinities to the largest value of the FNUZ types too: since opset 24, NaN
  /// before.
  bool saturate_fnuz_infinity = true;
};

/// Elements of `x` converted by ONNX Cast's rules: floats round once to nearest even, floats to integers
/// truncate toward zero, integers wrap, anything non-zero is true, strings are decimal numbers. Any dtype
/// but the complex ones. An error (message only) when a string is not a number.
StatusOr<Tensor> cast_elements(const Tensor& x, DType to, const CastOptions& options = {});

}  // namespace atc::ops
