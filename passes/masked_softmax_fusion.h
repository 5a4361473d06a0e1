#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A softmax of scaled and masked values becomes one operator:
///
///     y = Softmax(x * c + mask)            ->    y = atc.ScaledMaskedSoftmax(x, mask){scale=c}
///     y = Softmax(Where(m, x * c, f))      ->    y = atc.ScaledMaskedSoftmax(x, m){scale=c, mask_kind=keep,
///     fill=f} y = Softmax(x * c)                   ->    y = atc.ScaledMaskedSoftmax(x){scale=c}
///
/// Mul or Div by the constant; the Where's branches in either order. Softmaxes of attentions are gone before.
/// Without a scale, not a sum of two values of the softmax's shape, of which none is more a mask than the
/// other, nor of a value and a constant with one number a column, a product's bias. Not where something else
/// reads a value in between.
Pass masked_softmax_fusion_pass();  ///< "masked-softmax-fusion"; changes: operators made

}  // namespace atc::passes
