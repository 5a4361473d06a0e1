#pragma once

#include <cstdint>

#include "aicore/vector_ops.h"

namespace atc::aicore {

/// One operand of a host loop over a rows x cols tile: strides in elements, 0 where it is broadcast.
struct LoopOperand {
  const void* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
};

/// The vector unit's host loops, built once for each instruction set (vector_loops.inc). They give the
/// same bits everywhere: no contraction, no library call whose result depends on the machine.
struct VectorTable {
  /// dst is dense, rows x cols. False when the op does not exist for the type.
  bool (*elementwise)(VecOp op, RegType operand_type, void* dst, LoopOperand a, LoopOperand b, LoopOperand c,
                      double imm, std::int64_t rows, std::int64_t cols);
  /// One result for each row of a dense rows x cols tile, or for each column.
  bool (*reduce_rows)(VecOp op, RegType type, void* dst, const void* src, std::int64_t rows,
                      std::int64_t cols, bool accumulate);
  bool (*reduce_cols)(VecOp op, RegType type, void* dst, const void* src, std::int64_t rows,
                      std::int64_t cols, bool accumulate);
  /// Conversion between register types.
  bool (*cast)(RegType to, RegType from, void* dst, const void* src, std::int64_t count);
};

/// The table for the CPU the program runs on.
const VectorTable& vector_table();

const VectorTable& vector_table_generic();
const VectorTable& vector_table_avx2();

}  // namespace atc::aicore
