#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Subgraphs that the user's operators compute become atc::Custom, where the pipeline's own recognisers find
/// them (rope_pattern.h, gated_unit.h, attention_pattern.h, softmax_pooling_pattern.h):
///
///     x * cos + rotated(x) * sin           ->  RoPE(x, cos, sin) {mode = 0: halves, 1: interleaved}
///     Swish(gate) * up                     ->  SwiGlu(gate beside up) {dim = -1, interleaved}
///     Softmax(q k^T * s + mask) v          ->  Attention(q, k, v, mask) {scale = s, softcap}
///     ReduceSum(Softmax(s) * x)            ->  SoftmaxMulReduceSum(s, x) {axis}
///
/// Operands get the form that models/custom_ops/README.md promises: a whole x in place of its parts, tables
/// as wide as a head, one tensor for both halves, heads on axis 1. Not where the operator lacks what a form
/// needs (a near miss says what), where something else reads an attention's weights, nor for attentions whose
/// masked rows are zero or whose condition fills in another number than a very negative one. Static shapes.
Pass custom_subgraphs_pass();  ///< "custom-subgraphs"; changes: subgraphs taken

}  // namespace atc::passes
