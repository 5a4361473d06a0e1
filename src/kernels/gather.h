#pragma once

#include "kernels/task.h"

namespace atc::kernels {

/// out[b, o, j, i] = data[b, o, index[b, j], i] for b < batch, o < outer, j < count, i < inner, where data
/// has `axis` rows. An index below zero counts from the end; one out of range (an error in ONNX that only the
/// run can see) gives zeros.
struct GatherSpec {
  int element_bytes = 4;  ///< 1, 2, 4 or 8
  std::int64_t outer = 1, axis = 1, count = 1, inner = 1;
  std::int64_t batch = 1;  ///< each has indices of its own
};

/// Builds the task. Operands: 0 data, 1 indices (I32 or I64), 2 out. Long rows are fetched one by one; short
/// ones are gathered in UB from whole slabs of data where those fit. E10041 when an operand is too small or
/// of a wrong kind.
StatusOr<Task> make_gather(const GatherSpec& spec, std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
