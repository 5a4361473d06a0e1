#pragma once

#include <vector>

#include "kernels/vector_program.h"

namespace atc::kernels {

/// How an operand differs from one that the strides of a space alone describe.
struct OperandLayout {
  /// Elements that exist along the space's last axis; 0: all. Others are not stored, and hold anything when
  /// loaded. That axis is neither reduced nor 1 long.
  std::int64_t present = 0;
  /// In FRACTAL_NZ: elements from one block of 16 columns of the last axis to the next; 0 for others. Such an
  /// operand spans the last two axes with strides 16 and 1 and whole blocks, the last axis is longer than one
  /// block, and an axis that is reduced is one of these two.
  std::int64_t block_stride = 0;
};

/// Operand `operand` is a table of `rows` rows, `row_stride` elements apart, of which each row of the space
/// (all but its last axis) has the one that an element of operand `index` names: i32 or i64, from the end
/// where negative, rows of zeros where out of range. Its strides in the space are 0 along the rows and 1
/// along the last axis; those of the index are row-major along the rows, and 0 along the last axis. The
/// program loads no index.
struct GatheredOperand {
  std::size_t operand = 0, index = 0;
  std::int64_t rows = 1, row_stride = 1;
};

/// make_vector_task for operands with such layouts, one each. Operands that are `gathered` by row need a
/// space of two axes at least, whose last one alone may be reduced; others may be in FRACTAL_NZ beside them.
StatusOr<Task> make_padded_vector_task(const VectorProgram& program, const VectorSpace& space,
                                       const std::vector<OperandLayout>& layouts,
                                       std::vector<Operand> operands, const soc::Chip& chip,
                                       const std::vector<GatheredOperand>& gathered = {});

}  // namespace atc::kernels
