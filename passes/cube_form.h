#pragma once

#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace atc::passes {

/// Brings what runs with an accumulator into the internal forms that carry an epilogue (domain "atc"):
///
///     y = Conv(x, W, B)            ->  y = atc.Conv(x, W, B'){pads, strides, dilations, group, epilogue}
///     y = ConvTranspose(x, W, B)   ->  y = atc.ConvTranspose(...)
///     y = MatMul(a, B)             ->  y = atc.MatMul(a, B){epilogue}
///     y = Conv, one input and output channel a group -> atc.DepthwiseConv
///     y = MaxPool/AveragePool(x)   ->  y = atc.MaxPool/atc.AveragePool(x){..., epilogue}
///
/// The epilogue adds the bias or returns the accumulator. Weights must be constant for convolutions;
/// auto_pad becomes explicit pads. Operands the cube does not take (f64, integers) stay as they are.
Pass cube_form_pass();  ///< "cube-form"; changes: nodes rewritten

/// The ONNX operators that it rewrites.
std::vector<std::string_view> cube_form_operators();

}  // namespace atc::passes
