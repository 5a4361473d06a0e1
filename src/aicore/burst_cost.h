#pragma once

#include <cstdint>

#include "atc/base/math.h"
#include "soc/chip.h"

namespace atc::aicore {

/// L2 is entered by whole bursts of this many bytes.
inline constexpr std::int64_t kBurst = 64;

/// Cycles that MTE2 (MTE3 when `write`) of one core is busy with `blocks` stretches between L2 and the core,
/// without the start of the instruction and what memory beyond L2 adds. (MODEL.md)
inline std::int64_t burst_cycles(const soc::Chip& chip, std::int64_t blocks, std::int64_t block_bytes,
                                 bool write) {
  return ceil_div(blocks * round_up(block_bytes, kBurst),
                  std::int64_t{write ? chip.ub_write_l2 : chip.l2_read}) +
         blocks / 4;
}

/// Whether MTE2 turns a row-major matrix into fractals on its way to L1 (DataCopy with Nd2NzParams). That
/// came with the cores that have a Fixpipe unit. On the older ones a row-major operand is moved block by
/// block, 32 bytes of one row at a time (programming guide: there the on-the-fly form of Matmul is the slow
/// one).
inline bool has_nd2nz(const soc::Chip& chip) { return chip.fixpipe; }

/// The stretches that loading a matrix into L1 as fractals is made of.
struct Stretches {
  std::int64_t blocks = 1, elements = 0;  ///< how many, and of how many elements
};

/// Of rows x cols elements in blocks of `lanes` columns: row-major with rows `row_stride` apart, or in
/// FRACTAL_NZ with blocks `block_stride` elements apart (0: row-major).
inline Stretches matrix_stretches(const soc::Chip& chip, std::int64_t rows, std::int64_t cols,
                                  std::int64_t lanes, std::int64_t row_stride, std::int64_t block_stride) {
  const std::int64_t across = ceil_div(cols, lanes);
  if (block_stride != 0)
    return block_stride == rows * lanes ? Stretches{1, across * rows * lanes}
                                        : Stretches{across, rows * lanes};
  // One row, or rows of one block, are in order as they lie.
  if (rows > 1 && across > 1 && !has_nd2nz(chip)) return {rows * across, lanes};
  return row_stride == cols ? Stretches{1, rows * cols} : Stretches{rows, cols};
}

}  // namespace atc::aicore
