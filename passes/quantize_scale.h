#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A floating product of two dequantized 8-bit tensors multiplies numbers that fp16 and bf16 hold exactly:
///
///     y = MatMul(DequantizeLinear(a, as, az), DequantizeLinear(b, bs, bz))
///  -> y = MatMul(DequantizeLinear(a, 2^i, az), DequantizeLinear(b, 2^j, bz)) * (as * bs / 2^(i + j))
///
/// A value less its zero point has at most 8 bits, so with a power of two for its scale a narrow cube operand
/// loses nothing, and an fp32 one no more than before. The powers are those just below the scales: sums stay
/// within four times what they were.
///
/// Stays: products with a weight (quantize-fusion), scales by axis or not constant, and operands whose scales
/// both are such powers already.
Pass quantize_scale_pass();  ///< "quantize-scale"; changes: products rewritten

}  // namespace atc::passes
