#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// The cube multiplies int8: tensors that are u8 from QuantizeLinear (through data movement) to their integer
/// products and DequantizeLinears become i8, their zero points 128 less.
///
///     q: u8 = QuantizeLinear(x, s, z); ConvInteger(q, w, z)
///  -> q: i8 = QuantizeLinear(x, s, z - 128); ConvInteger(q, w, z - 128)
///
/// Stays: tensors that the model's inputs or outputs, other operators or nested graphs see, zero points that
/// are not constant, and tensors that no product reads.
Pass quantize_sign_pass();  ///< "quantize-sign"; changes: tensors that became i8

}  // namespace atc::passes
