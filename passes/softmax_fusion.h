#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Softmax written out becomes the operator:
///
///     e = Exp(x - ReduceMax(x)); y = e / ReduceSum(e)    ->    y = Softmax(x)
///     e = Exp(x);                y = e / ReduceSum(e)    ->    y = Softmax(x)
///
/// both reductions along the same one axis, which stays; Div or Mul by the Reciprocal. Not along several
/// axes, and not where something else reads a value in between.
Pass softmax_fusion_pass();  ///< "softmax-fusion"; changes: softmaxes made

}  // namespace atc::passes
