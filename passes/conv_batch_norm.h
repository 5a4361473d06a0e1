#pragma once

#include "passes/pass.h"

namespace atc::passes {

///     y = BatchNormalization(Conv(x, W, B), scale, shift, mean, var)  ->  y = Conv(x, W', B')
///
/// with f = scale / sqrt(var + epsilon): W' = W * f per output channel, B' = (B - mean) * f + shift. All
/// parameters constant; the convolution has no other user. Conv and ConvTranspose.
Pass conv_batch_norm_pass();  ///< "conv-batch-norm" (ConvBatchnormFusionPass); changes: nodes folded

}  // namespace atc::passes
