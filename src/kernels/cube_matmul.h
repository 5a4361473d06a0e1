#pragma once

#include <vector>

#include "kernels/tile_program.h"

namespace atc::kernels {

/// How operand k of a MatMul's epilogue (and A, B, the output) is addressed, in elements.
struct MatrixAddress {
  std::int64_t offset = 0;
  Dims batch_strides;           ///< one a batch dim
  std::int64_t row_stride = 0;  ///< of M (of K for B, of N for a transposed B)
  std::int64_t col_stride = 0;  ///< epilogue operands only: 1, or 0 to broadcast
  /// In FRACTAL_NZ: elements from one block of 16 columns to the next; row_stride is then 16, and the columns
  /// are whole blocks. 0: row-major.
  std::int64_t block_stride = 0;
};

/// C[b, m, n] = epilogue(sum_k A[b, m, k] * B[b, k, n]), accumulated in f32, of int8 in i32.
/// Operand 0 is A (M x K, or K x M), operand 1 is B; the epilogue's operand k is task operand k + 2, and the
/// program's Acc is the product; its stores make the outputs.
struct MatMulSpec {
  Dims batch;
  std::int64_t m = 0, k = 0, n = 0;
  enum class BLayout : std::uint8_t {
    Panels,      ///< FRACTAL_Z: [N1][K1][16 k][16 n] (int8: [N1][K1][16][16 n][2 k]), batch strides allowed
    Matrix,      ///< row-major K x N
    Transposed,  ///< row-major N x K
  } b_layout = BLayout::Panels;
  bool a_transposed = false;  ///< A is row-major K x M: its row_stride steps along K
  MatrixAddress a, b;
  std::vector<MatrixAddress> epilogue_operands;
  VectorProgram epilogue;
};

/// A and B are of one dtype: f32, f16, bf16 or int8 (the program's Acc is then I32). int8 A and B are
/// row-major, and B in FRACTAL_NZ is a Matrix or Transposed.
StatusOr<Task> make_matmul_task(const MatMulSpec& spec, std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
