#pragma once

#include <vector>

#include "ops/lower.h"

// Index tensors as flat positions, computed on the AI Core: what GatherElements, GatherND and Scatter* need
// before rows can be moved.
namespace atc::ops {

/// One coordinate: values of an I32 or I64 operand, read with `strides` over the positions, each naming one
/// of `length` rows (from the end when below zero) that are `step` rows of the flat axis apart.
struct IndexPart {
  const ir::Value* value = nullptr;
  std::int64_t offset = 0;
  Dims strides;
  std::int64_t length = 1;
  std::int64_t step = 1;
};

/// The parts of index tuples, the last axis of `value`, into a box of `lengths`.
std::vector<IndexPart> tuple_parts(const ir::Value* value, const Dims& lengths);

/// Refuses static indices of GatherElements and Scatter* (input 1) that exceed data (input 0) in another axis
/// than `axis`; positions beside the data would name elements of other rows.
Status check_beside_axis(const ir::Node& node, std::size_t axis);

/// Flat positions of an axis of `rows` rows, one for each position of `dims`: the sum of the parts and of
/// position[d] * position_steps[d]. Where any part is out of its range the result is `rows`, which names no
/// row. Indices are compared in their own type and narrowed to I32 only when every result fits there;
/// otherwise the task computes and the operand holds I64.
StatusOr<kernels::Operand> emit_flat_indices(LowerContext& ctx, const Dims& dims,
                                             const std::vector<IndexPart>& parts, const Dims& position_steps,
                                             std::int64_t rows);

}  // namespace atc::ops
