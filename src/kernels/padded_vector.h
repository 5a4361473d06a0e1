#pragma once

#include "kernels/vector_program.h"

namespace atc::kernels {

/// Operand `operand` is a table of `rows` rows, `row_stride` elements apart, of which each row of the space
/// (all but its last axis) has the one that an element of operand `index` names: i32 or i64, from the end
/// where negative, rows of zeros where out of range. Its strides in the space are 0 along the rows and 1
/// along the last axis; those of the index are row-major along the rows, and 0 along the last axis. The
/// program loads no index.
struct GatheredOperand {
  std::size_t operand = 0, index = 0;
  std::int64_t rows = 1, row_stride = 1;
};

/// make_vector_task for operands that have fewer elements along the space's last axis than the space: only
/// the first present[k] of operand k exist (0: all). Others are not stored, and hold anything when loaded.
/// That axis is neither reduced nor 1 long. Operands that are `gathered` by row need a space of two axes at
/// least, whose last one alone may be reduced.
StatusOr<Task> make_padded_vector_task(const VectorProgram& program, const VectorSpace& space,
                                       const std::vector<std::int64_t>& present,
                                       std::vector<Operand> operands, const soc::Chip& chip,
                                       const std::vector<GatheredOperand>& gathered = {});

}  // namespace atc::kernels
