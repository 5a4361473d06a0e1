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

/// The heads that an attention reads of one value or writes to its output.
struct AttentionHeads {
  const ir::Value* value;
  kernels::HeadAddress* address;  ///< in the specification, as if the value were row-major
  std::int64_t heads, rows, width;
  bool transposed = false;  ///< stored [width][row]: cannot be in FRACTAL_NZ
};
/// Of Q, the output, then K and V of each segment. Values may be in FRACTAL_NZ where fractal_head finds the
/// heads.
std::vector<AttentionHeads> attention_heads(const ir::Node& node, kernels::AttentionSpec& spec);

}  // namespace atc::ops
