#pragma once

#include <vector>

#include "kernels/task.h"

namespace atc::kernels {

/// out[o, j, i] = sum over t < taps of weight[j, t] * in[o, index[j, t], i], for o < outer, j < count, i <
/// inner, where `in` has `axis` rows. Storage is f32, f16 or bf16, arithmetic f32. Taps of weight zero are
/// not read, so that rows with fewer taps can be filled up.
struct InterpolateSpec {
  std::int64_t outer = 1, axis = 1, count = 1, inner = 1, taps = 1;
  /// What operand 1 holds, [count][taps], each in [0, axis): tiles load only the rows that they need.
  std::vector<std::int32_t> index;
};

/// Builds the task. Operands: 0 in, 1 index (I32 [count][taps], constant), 2 weight (F32 [count][taps]), 3
/// out. E10041 when the spec is not consistent with its operands, or when the rows of a single output do not
/// fit UB.
StatusOr<Task> make_interpolate(const InterpolateSpec& spec, std::vector<Operand> operands,
                                const soc::Chip& chip);

}  // namespace atc::kernels
