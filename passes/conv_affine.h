#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Constants that follow a convolution channel by channel become its bias and weights, as BatchNormalization
/// does:
///
///     y = Add(Conv(x, W, b), c)  ->  y = Conv(x, W, b + c)             AABiasaddConvFusion; Sub alike
///     y = Mul(Conv(x, W, b), c)  ->  y = Conv(x, W * c, b * c)         AConv2dMulFusion; Div alike
///
/// Convolutions and transposed ones with constant weights and bias, whose result nobody else reads; c is one
/// value, or one a channel. Weights that others share are not multiplied.
Pass conv_affine_pass();  ///< "conv-affine"; changes: operators folded

}  // namespace atc::passes
