#pragma once

#include <cstdint>
#include <vector>

#include "ops/op.h"

// Index tensors of Gather* and Scatter* as offsets into the data. Every index is checked; negative ones
// count from the end of their axis.
namespace atc::ops {

/// Elements of input `i` as indices into an axis of `length`, made non-negative.
StatusOr<std::vector<std::int64_t>> normal_indices(const EvalContext& ctx, std::size_t i,
                                                   std::int64_t length);

/// GatherElements and ScatterElements (data is input 0, indices input 1, attribute `axis`): for each
/// element of indices, the offset in data with its coordinate along `axis` replaced by the index.
StatusOr<std::vector<std::int64_t>> element_targets(const EvalContext& ctx, const Dims& data);

/// GatherND and ScatterND (indices is input 1): where the slice of each index tuple begins in data, and
/// how many elements it has. The first `batch` axes of data and indices run together.
struct TupleTargets {
  std::vector<std::int64_t> offsets;
  std::int64_t run = 1;
};
StatusOr<TupleTargets> tuple_targets(const EvalContext& ctx, const Dims& data, std::size_t batch);

}  // namespace atc::ops
