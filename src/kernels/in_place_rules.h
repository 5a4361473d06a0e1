#pragma once

#include "kernels/vector_program.h"

namespace atc::kernels {

/// One answer to may_share for each template that has one. `input` and `output` are operands of the task, of
/// elements of one size.
bool conv_may_share(const Task& task, std::size_t input, std::size_t output);
bool matmul_may_share(const Task& task, std::size_t input, std::size_t output);
bool scatter_may_share(const Task& task, std::size_t input, std::size_t output);
bool vector_program_may_share(const Task& task, std::size_t input, std::size_t output);
bool window_may_share(const Task& task, std::size_t input, std::size_t output);

/// Whether position (i0, i1, ...) at sum_j i_j * strides[j] has an address of its own: each stride steps over
/// all that the smaller ones reach.
bool one_to_one(const Dims& extents, const Dims& strides);

/// Adds a matrix's axes: rows and columns, of one in FRACTAL_NZ (`block_stride` not 0) its blocks of columns.
void add_matrix(Dims& extents, Dims& strides, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                std::int64_t col_stride, std::int64_t block_stride);

/// Whether the program, run on a chunk of positions, reads operand `input` (of `dtype`) for the last time no
/// later than it writes operand `output` for the first time. A load without conversion counts as read until
/// the last use of its register, and a result that is stored as written where it is computed: Fast mode may
/// leave both in Global Memory.
bool reads_before_writes(const VectorProgram& program, std::size_t input, DType dtype, std::size_t output);

}  // namespace atc::kernels
