#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Products of dequantized values become products of the 8-bit integers themselves:
///
///     y = Conv(DequantizeLinear(x), DequantizeLinear(w), b)
///  -> y = Cast(ConvInteger(x, w - w_zero, x_zero) + b / (x_scale * w_scale)) * (x_scale * w_scale)
///
/// and the same of MatMul (MatMulInteger) and Gemm. Weights are constant, with one scale or one for each
/// output channel. The bias joins the integer sum when it was quantized with x_scale * w_scale, else it is
/// added as it is. When only [Relu and] a QuantizeLinear reads y, its scale is merged into the factor, and
/// the QuantizeLinear is left with scale 1.
///
/// Stays: scales or zero points that are not constant, x quantized by axis, weights that do not fit int8
/// when their zero point is taken off, sums that could leave int32, depthwise convolutions (windows), transA.
Pass quantize_fusion_pass();  ///< "quantize-fusion"; changes: products rewritten

}  // namespace atc::passes
