#pragma once

#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace atc::passes {

/// ONNX's Attention (opset 23 and later) takes the form that one kernel computes:
///
///     y, pk, pv = Attention(q, k, v, mask, past_k, past_v)    ->    pk = Concat(past_k, k); pv =
///     Concat(past_v, v)
///                                                                   y = atc.Attention(q, mask, pk, pv)
///
/// Rank 3 inputs are read head by head through strides. nonpad_kv_seqlen joins the mask; positions beyond a
/// mask's end are not read. Scores that are an output are computed beside it. Not where types differ, where
/// scores that are an output show a mask that ends early, or where no tile of the heads fits the chip: those
/// run by their reference.
Pass attention_lowering_pass();  ///< "attention-lowering"; changes: nodes rewritten

/// The ONNX operators that it rewrites.
std::vector<std::string_view> lowered_attentions();

}  // namespace atc::passes
