#pragma once

#include "ops/dtype_set.h"

// Checks that inference functions of many families make of their inputs. Each error names the node, the
// input, what was expected and what was found.
namespace atc::ops {

/// The input is f16, bf16, f32 or f64.
Status require_float(const InferContext& ctx, std::size_t input);
/// The input has the dtype of input `like`; no-op when the input is absent.
Status require_same_dtype(const InferContext& ctx, std::size_t input, std::size_t like);
/// The input's rank, when known, is in [least, most].
Status require_rank(const InferContext& ctx, std::size_t input, std::size_t least,
                    std::size_t most = SIZE_MAX);
/// The input, when present and ranked, is 1-D of `length` (any length when that is unknown).
Status require_vector(const InferContext& ctx, std::size_t input, const ir::Dim& length);

/// True when both are known and differ.
bool conflicts(const ir::Dim& a, const ir::Dim& b);
/// The better known of two dims that must be equal.
const ir::Dim& merge(const ir::Dim& a, const ir::Dim& b);

/// An axis attribute in [-rank, rank) made non-negative; an error that names the attribute otherwise.
StatusOr<std::int64_t> axis_attribute(const InferContext& ctx, std::string_view name, std::int64_t fallback,
                                      std::size_t rank);
/// A list of axes (sorted, without duplicates) from `axes`, each in [-rank, rank).
StatusOr<Dims> resolve_axes(const ir::Node& node, const Dims& axes, std::size_t rank);

}  // namespace atc::ops
