#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A product reads an operand transposed instead of a copy that was transposed for it:
///
///     y = atc.MatMul(a, Transpose(b){last two axes})  ->  y = atc.MatMul(a, b){trans_b}
///     y = atc.MatMul(Transpose(a){last two axes}, b)  ->  y = atc.MatMul(a, b){trans_a}
///     y = atc.MatMul(a, Transpose(b){0, 2, 3, 1})     ->  y = atc.MatMul(a, Transpose(b){0, 2, 1,
///     3}){trans_b}
///
/// In the last form the copy moves whole rows instead of single elements. Fires where nobody else reads the
/// transposed copy. Known to users as BatchMatMulTransposeFusionPass.
Pass transposed_operand_pass();  ///< "transposed-operand"; changes: products

}  // namespace atc::passes
