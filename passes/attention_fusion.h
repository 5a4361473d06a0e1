#pragma once

#include <optional>

#include "passes/attention_pattern.h"
#include "passes/pass.h"

namespace atc::passes {

/// Softmax(Q K^T * scale + mask) V becomes one atc.Attention, whose kernel keeps the scores on the chip:
///
///     q, k, v = Transpose(Reshape(x_q, x_k, x_v))            [B, H, S, D]
///     s = MatMul(q, Transpose(k)) * scale + mask       ->    y = atc.Attention(x_q, mask, x_k, x_v)
///     y = Transpose(MatMul(Softmax(s), v))
///
/// Head splits, transpositions, slices of a joint projection, key heads repeated for groups of query heads,
/// and a Concat with cached keys and values become strides of the node's views; what strides cannot express
/// stays a node. `match_attention` says which forms of scale and mask there are. Not where another node reads
/// scores or weights, where scores are masked twice in ways that do not add up, or where no tile of the heads
/// fits the chip.
Pass attention_fusion_pass();  ///< "attention-fusion"; changes: attentions made

/// match_attention, where factors of queries and keys that stand in front of moved heads are brought behind
/// them first; `moved` counts that.
std::optional<AttentionPattern> find_attention(ir::Graph& graph, ir::Node& product, int& moved);

}  // namespace atc::passes
