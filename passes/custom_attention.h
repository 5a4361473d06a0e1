#pragma once

#include "passes/attention_pattern.h"
#include "passes/custom_offer.h"

namespace atc::passes {

/// What a custom operator Attention gets for the pattern: q [B, H, S, D], k [B, H, T, D], v [B, H, T, Dv]
/// and, where scores are masked, a mask that is added to them and broadcasts to [B, H, S, T]. Axes in front
/// of the heads are joined, heads that several others share are repeated. Returns why it cannot take the
/// pattern, and has not changed the graph then; else "" and has written what brings the operands into form.
std::string offer_attention(ir::Graph& graph, const AttentionPattern& p, const custom::OpInfo& op,
                            CustomOffer& offer);

}  // namespace atc::passes
