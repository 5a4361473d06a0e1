#pragma once

#include "passes/attention_pattern.h"

namespace atc::passes {

/// What an attention's pattern hides and adds, as the kernel takes it (kernels::AttentionSpec): one mask, and
/// one bias beside it.
struct JoinedMasks {
  ir::Value* mask = nullptr;  ///< the conditions; without any, what is added
  ir::Value* bias = nullptr;
  Dims mask_scores, bias_scores;  ///< of the scores that they broadcast to
};

/// False when several conditions, or several addends that must be summed, act on scores of other dims each.
bool can_join_masks(const AttentionPattern& pattern);

/// Conditions and addends both, or two addends: each has its place.
bool has_bias(const AttentionPattern& pattern);

/// Writes what several conditions leave and several addends sum up to in front of the pattern's product:
/// small tensors beside the scores. Precondition: can_join_masks, and they broadcast to the scores.
JoinedMasks join_masks(ir::Graph& graph, const AttentionPattern& pattern);

}  // namespace atc::passes
