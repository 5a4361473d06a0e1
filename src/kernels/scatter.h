#pragma once

#include "aicore/index_tiles.h"
#include "kernels/task.h"

namespace atc::kernels {

/// out = data, of batch x axis x inner elements, after update j of batch b met row index[b, j], for j = 0, 1,
/// ... count - 1 in this order. An index below zero counts from the end; one out of range (an error in ONNX
/// that only the run can see) changes nothing.
struct ScatterSpec {
  aicore::ScatterOp op = aicore::ScatterOp::Set;
  std::int64_t batch = 1, axis = 1, count = 1, inner = 1;
};

/// Builds the task. Operands: 0 data, 1 indices (I32 or I64, [batch][count]), 2 updates ([batch][count]
/// [inner]), 3 out. Set moves elements of 1, 2, 4 or 8 bytes; the other operations need a dtype of the vector
/// unit, narrow floats are combined in f32. A tile is rows of the output that one core owns: it reads all
/// updates of its batch and keeps those that go to it, whence the result does not depend on the cores. E10041
/// when an operand is too small or of a wrong kind.
StatusOr<Task> make_scatter(const ScatterSpec& spec, std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
