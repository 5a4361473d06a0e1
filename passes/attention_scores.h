#pragma once

#include "kernels/attention.h"
#include "passes/attention_mask.h"
#include "passes/node_writer.h"

namespace atc::passes {

/// Writes output 3 of ONNX's Attention, which the kernel never has as a whole: the product of queries and
/// keys as qk_matmul_output_mode asks for it.
///
///     0: s = q k^T * scale    1: c = softcap(s)    2: b = c + mask    3: Softmax(b), 0 in rows that see
///     nothing
///
/// `q` and `k` are [batch, heads, positions, elements], `k` with the past; `mask` is over all positions.
ir::Value* write_scores(NodeWriter& writer, const ir::Node& attention, const kernels::AttentionSpec& spec,
                        ir::Value* q, ir::Value* k, const OnnxMask& mask);

/// True when the mode shows the mask.
bool scores_show_mask(const ir::Node& attention);

}  // namespace atc::passes
