#pragma once

#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace atc::passes {

/// Quantized operators in simpler ones, where their parameters are constant:
/// - QLinearConv(x, ..): QuantizeLinear(Cast(ConvInteger(x, w) + bias) * x_scale * w_scale / y_scale);
/// - QLinearMatMul(a, ..): the same with MatMulInteger;
/// - DynamicQuantizeLinear(x): ReduceMin, ReduceMax, scale and zero point of them, QuantizeLinear;
/// - DequantizeLinear by channel: Cast(x - zero) * scale;
/// - QuantizeLinear by channel: Cast(Clip(Round(x / scale) + zero)).
///
/// Stays: weights, scales or zero points that are not constant (DynamicQuantizeLinear has none), scales in
/// blocks or by row, types other than f32 and 8 bits.
Pass quantize_expand_pass();  ///< "quantize-expand"; changes: operators rewritten

/// The ONNX operators that it rewrites.
std::vector<std::string_view> quantize_expanded_operators();

}  // namespace atc::passes
