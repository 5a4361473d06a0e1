#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A normalization takes in the sum in front of it, as a residual network has it:
///
///     s = a + b; y = LayerNormalization(s, scale, bias)    ->    y, s = atc.AddLayerNorm(a, b, scale, bias)
///
/// The sum stays an output where others read it. Not where a constant is added (a product's bias, which
/// becomes its epilogue), where neither operand has the sum's shape, or where the statistics are outputs.
Pass add_layer_norm_fusion_pass();  ///< "add-layer-norm-fusion"; changes: sums taken in
/// The same of RMSNormalization: atc.AddRmsNorm(a, b, scale).
Pass add_rms_norm_fusion_pass();  ///< "add-rms-norm-fusion"; changes: sums taken in

}  // namespace atc::passes
