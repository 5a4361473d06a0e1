#pragma once

#include <optional>

#include "kernels/attention.h"
#include "ops/lower.h"

// atc::Attention: inputs Q, mask (may be absent), then K and V of each segment of positions, then the bias
// where there is one beside the mask; one output. Inputs are read through strided views, so that projections,
// head splits and transpositions around the attention are no tasks.
namespace atc::ops {

/// Attributes of an atc::Attention node that compute `spec`, whose output has the logical dims `shape`.
void set_attention(ir::Node& node, const kernels::AttentionSpec& spec, const Dims& shape);
/// True when the node's last input is a bias.
bool has_bias(const ir::Node& attention);
/// The reverse; nullopt when the attributes do not describe an attention.
std::optional<kernels::AttentionSpec> attention_of(const ir::Node& node);

}  // namespace atc::ops
