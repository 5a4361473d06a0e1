#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Rotary position embedding becomes one vector program that reads its input twice, as it is and with the
/// halves (or the neighbours) of a head swapped:
///
///     r = Concat(Neg(x[..., h:]), x[..., :h])                                  rotate-half
///     r = Reshape(Concat(Unsqueeze(Neg(x[..., 1::2])), Unsqueeze(x[..., ::2])))    interleaved
///     y = x * cos + r * sin                                              ->    y = atc.Fused(x, x, cos, sin,
///     sign)
///
/// and so does Concat(a * cos - b * sin, b * cos + a * sin) of the halves a and b. Where cos and sin are rows
/// of constant tables by the same index, one table holds cos and the signed sin side by side. Head splits and
/// transpositions of x become strides. Not where another node reads the rotated half.
Pass rope_fusion_pass();  ///< "rope-fusion"; changes: embeddings fused

}  // namespace atc::passes
