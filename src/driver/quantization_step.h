#pragma once

#include "atc/base/tensor.h"
#include "atc/ir/graph.h"

namespace atc::driver {

/// What one quantization step is in an output, in the output's unit:
/// - 1 for integers;
/// - the scale (the largest of several) of the DequantizeLinear that `output` comes from, at most through
///   data movement;
/// - else, for what is computed in floating point at last, the step of 8 bits over the range of `expected`
///   with zero in it: (max - min) / 255, as a calibrated QuantizeLinear behind it would have. At least the
///   smallest positive double, also when all is zero.
/// `output` is null when the model could not be read.
double quantization_step(const ir::Value* output, const Tensor& expected);

}  // namespace atc::driver
