#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// The gated unit of a feed-forward block becomes one vector program that reads both halves in place:
///
///     y = f(g) * u,  g and u two parts of one value (Split, Slice, x[..., ::2] and x[..., 1::2]), or two
///     products of one value with constant matrices, which matmul-merge then joins            ->    y =
///     atc.Fused(g, u)
///
/// f is Swish or g * Sigmoid(g) (SwiGLU); between projections, where y goes into a product, also Gelu, Relu
/// or Sigmoid (GeGLU, ReGLU, GLU). Not where another node reads the gate's activation.
Pass swiglu_fusion_pass();  ///< "swiglu-fusion"; changes: units fused

}  // namespace atc::passes
