#pragma once

#include <string_view>
#include <vector>

#include "kernels/attention_tiling.h"
#include "kernels/task.h"

namespace atc::kernels {

inline constexpr std::string_view kAttentionKernel = "attention";

// Operands of its tasks; K and V of each segment follow.
inline constexpr std::size_t kAttentionQ = 0, kAttentionOut = 1, kAttentionMask = 2;
inline std::size_t first_attention_segment(const AttentionSpec& spec) {
  constexpr auto kNone = AttentionMask::Kind::None;
  return 2U + (spec.mask.kind != kNone ? 1U : 0U) + (spec.bias.kind != kNone ? 1U : 0U);
}
/// Of the mask (0) or the bias (1). Precondition: it is there.
inline std::size_t attention_mask_operand(const AttentionSpec& spec, std::size_t i) {
  return i == 1 && spec.mask.kind != AttentionMask::Kind::None ? kAttentionMask + 1 : kAttentionMask;
}

/// Every extent is in range, operands have types that the kernel takes, and no address leaves its operand.
Status check_attention(const AttentionTiling& tiling, const std::vector<Operand>& operands);

}  // namespace atc::kernels
