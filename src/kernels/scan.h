#pragma once

#include "kernels/task.h"

namespace atc::kernels {

/// out[o, k, i] = the sum (or product) of in[o, k', i] over k' <= k, or k' < k when `exclusive`; from the
/// other end when `reverse`. For o < outer, k < axis, i < inner. Narrow floats are summed in f32, narrow
/// integers wrap.
struct ScanSpec {
  bool product = false;
  bool exclusive = false;
  bool reverse = false;
  std::int64_t outer = 1, axis = 1, inner = 1;
};

/// Builds the task. Operands: 0 in, 1 out, of one dtype of the vector unit. Tiles are lanes beside the axis,
/// which a core walks in chunks from its start to its end: elements join in order, however it is cut. E10041
/// when an operand is too small or of a wrong kind.
StatusOr<Task> make_scan(const ScanSpec& spec, std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
