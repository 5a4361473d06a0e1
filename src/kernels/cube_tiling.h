#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "aicore/core.h"
#include "atc/base/math.h"
#include "kernels/vector_program.h"
#include "soc/chip.h"

namespace atc::kernels {

/// A tile of the cube's output and how its product is cut.
struct CubeTileSize {
  int m = 16;       ///< rows of L0C
  int panels = 1;   ///< columns of L0C / 16
  int k_slice = 1;  ///< fractals of the reduction in L0A and L0B at once
};

/// Bytes that one row (of A) or column (of B) of a fractal takes: 16 elements, of int8 32.
constexpr int fractal_row_bytes(int element_bytes) { return element_bytes == 1 ? 32 : 16 * element_bytes; }

/// Largest k_slice for which two slices of both operands fit L0A and L0B; 0 when none does, or when two
/// output tiles do not fit L0C.
inline int max_k_slice(int m, int panels, int element_bytes, const soc::Chip& chip) {
  const std::int64_t m16 = round_up(m, 16);
  if (m16 * panels * 16 * 4 * 2 > chip.l0c) return 0;
  const std::int64_t a = chip.l0a / 2 / (m16 * fractal_row_bytes(element_bytes));
  const std::int64_t b = chip.l0b / 2 / (std::int64_t{panels} * 16 * fractal_row_bytes(element_bytes));
  return static_cast<int>(std::min<std::int64_t>({a, b, 64}));
}

/// Estimated cycles of one output tile: pipes overlap, so the slowest counts, plus filling them once.
/// `k_fractals` of the reduction, `a_bytes` and `b_bytes` from Global Memory.
inline std::int64_t tile_cycles(const CubeTileSize& t, std::int64_t k_fractals, std::int64_t a_bytes,
                                std::int64_t b_bytes, int element_bytes, const soc::Chip& chip) {
  const std::int64_t m16 = round_up(t.m, 16);
  const std::int64_t slices = ceil_div(k_fractals, t.k_slice);
  const std::int64_t cube = m16 / 16 * t.panels * k_fractals * (element_bytes == 4 ? 4 : 1) + slices * 8;
  const std::int64_t mte1 =
      m16 * k_fractals * fractal_row_bytes(element_bytes) / chip.l1_to_l0a +
      std::int64_t{t.panels} * 16 * k_fractals * fractal_row_bytes(element_bytes) / chip.l1_to_l0b +
      slices * 16;
  const std::int64_t gm = a_bytes / chip.l2_read + b_bytes / chip.ddr_read + 64;
  const std::int64_t out = m16 * t.panels * 64 / chip.l0c_out + m16 * t.panels * 64 / chip.vector_bytes * 3 +
                           std::int64_t{t.panels} * 48;
  const std::int64_t slowest = std::max({cube, mte1, gm, out});
  return slowest + (cube + mte1 + gm + out - slowest) / 8 + 200;
}

/// A and B (operands 0 and 1) are of one dtype that the cube takes, and the epilogue's accumulator is of its.
Status check_cube_operands(const Task& task, const VectorProgram& epilogue, std::string_view kernel);

/// L0 buffers of a block: two slices of each operand, two output tiles.
struct CubeBlock {
  aicore::Core::CubeBuffers l0;
  aicore::Buffer* l0c[2];
  int next_l0c = 0;
  CubeBlock(aicore::Core& core, const CubeTileSize& t, int element_bytes) {
    const std::int64_t m16 = round_up(t.m, 16);
    for (int i = 0; i < 2; ++i) {
      l0.l0a[i] = &core.alloc(aicore::Memory::L0A, m16 * t.k_slice * fractal_row_bytes(element_bytes));
      l0.l0b[i] = &core.alloc(aicore::Memory::L0B,
                              std::int64_t{t.panels} * t.k_slice * 16 * fractal_row_bytes(element_bytes));
      l0c[i] = &core.alloc(aicore::Memory::L0C, m16 * t.panels * 64);
    }
  }
  aicore::Buffer& take_l0c() {
    next_l0c ^= 1;
    return *l0c[next_l0c];
  }
};

}  // namespace atc::kernels
