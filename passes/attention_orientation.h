#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Attention over columns is written over rows, as attention-fusion knows it:
///
///     y = MatMul(v, Transpose(Softmax(s)))    ->    y = Transpose(MatMul(Softmax(s), Transpose(v)))
///
/// where `s` are products of queries and keys, scaled and masked: two copies of what is as large as the
/// values in place of one as large as the scores. Not where something else reads the weights.
Pass attention_orientation_pass();  ///< "attention-orientation"; changes: products turned

}  // namespace atc::passes
