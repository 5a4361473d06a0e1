#pragma once

#include <optional>

#include "kernels/attention.h"
#include "passes/node_writer.h"

namespace atc::passes {

/// What ONNX's Attention hides: its mask, and where it has nonpad_kv_seqlen, the positions beyond a cache's
/// end.
struct OnnxMask {
  ir::Value* value = nullptr;  ///< bool: true is seen; else added. Broadcasts to the scores.
  bool causal = false;         ///< besides, row i sees positions j <= i + past
};

/// True when the mask broadcasts to scores [batch, heads, rows, positions], or ends before the last position.
bool mask_fits(const ir::Node& attention, const Dims& scores);

/// Positions that the mask covers: those beyond its end are hidden from every row.
std::int64_t masked_positions(const ir::Node& attention, std::int64_t positions);

/// Writes what nonpad_kv_seqlen and the mask hide together. Rows are the last ones of each cache where the
/// node is causal and has nonpad_kv_seqlen, so the edge differs from batch to batch and joins the mask.
/// `scores`: [batch, heads, rows, masked positions].
OnnxMask write_mask(NodeWriter& writer, ir::Node& attention, const Dims& scores);

/// True where position j <= row i + offset: [1, 1, rows, positions].
ir::Value* causal_edge(NodeWriter& writer, const Dims& scores, std::int64_t offset);

/// The mask's address for the kernel, without any when it has none.
kernels::AttentionMask mask_address(const OnnxMask& mask, const Dims& scores);

}  // namespace atc::passes
