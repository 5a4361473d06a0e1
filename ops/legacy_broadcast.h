#pragma once

#include <optional>
#include <vector>

#include "ops/op.h"

// Broadcasting of two-input elementwise operators in every opset. Up to opset 6 it is asked for by the
// attribute `broadcast`, is unidirectional, and `axis` says at which axis of input 0 the dims of input 1
// begin; since opset 7 it is NumPy's.
namespace atc::ops {

inline constexpr int kLastLegacyBroadcast = 6;

/// `axis` and `broadcast`, for the schema of a definition of opsets 1 to 6.
std::vector<AttrSpec> legacy_broadcast_attrs();
/// Output shape of a two-input elementwise node, nullopt while a rank is not known.
StatusOr<std::optional<ir::Shape>> pairwise_shape(const InferContext& ctx);
/// Dims under which input 1 broadcasts to input 0 by NumPy's rule: trailing ones added where the node's
/// `axis` asks for it.
Dims aligned_dims(const ir::Node& node, const Dims& a, const Dims& b);
/// Both inputs of a node ready for NumPy broadcasting, and the broadcast dims.
struct AlignedPair {
  Tensor a;
  Tensor b;
  Dims space;
};
StatusOr<AlignedPair> aligned_inputs(const EvalContext& ctx);
/// True when input 1 needs no trailing ones, so that right-aligned strides address it.
bool is_right_aligned(const ir::Node& node);

}  // namespace atc::ops
