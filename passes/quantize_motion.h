#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Data movement between 8-bit tensors moves 8 bits:
///
///     Reshape(DequantizeLinear(x))              ->  DequantizeLinear(Reshape(x))
///     QuantizeLinear(Transpose(x))              ->  Transpose(QuantizeLinear(x))
///     QuantizeLinear(Concat(a, b))              ->  Concat(QuantizeLinear(a), QuantizeLinear(b))
///     Concat(DequantizeLinear(a), Dequant..(b)) ->  DequantizeLinear(Concat(a, b)), of equal parameters
///
/// for Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Slice, DepthToSpace and SpaceToDepth. A weight with
/// one scale a channel goes through Transpose too.
///
/// Stays: parameters that are not constant or not one for the tensor; what QuantizeLinear does not read
/// alone.
Pass quantize_motion_pass();  ///< "quantize-motion"; changes: moves

/// True when every output element of `n` is one of input 0 (of all inputs: Concat): such operators do not
/// care for the dtype.
bool moves_elements(const ir::Node& n);

}  // namespace atc::passes
