#pragma once

#include <cstdint>
#include <vector>

#include "aicore/core.h"
#include "atc/base/math.h"
#include "kernels/task.h"
#include "kernels/vector_program.h"
#include "soc/chip.h"

namespace atc::kernels {

/// A tile of the cube's output and how its product is cut.
struct CubeTileSize {
  int m = 16;       ///< rows of L0C
  int panels = 1;   ///< columns of L0C / 16
  int k_slice = 1;  ///< fractals of the reduction in L0A and L0B at once
};

/// For reports: rows and columns of L0C, and the part of the reduction in L0A and L0B.
inline std::vector<TilingField> describe_tile(const CubeTileSize& tile, DType dtype) {
  return {{"m", tile.m},
          {"n", std::int64_t{tile.panels} * 16},
          {"k", std::int64_t{tile.k_slice} * aicore::cube_lanes(dtype)}};
}

/// Bytes that one row (of A) or column (of B) of a fractal takes: 16 elements, of int8 32.
constexpr int fractal_row_bytes(int element_bytes) { return element_bytes == 1 ? 32 : 16 * element_bytes; }

/// Largest k_slice for which two slices of both operands fit L0A and L0B; 0 when none does, or when
/// `l0c_buffers` output tiles do not fit L0C.
inline int max_k_slice(int m, int panels, int element_bytes, int l0c_buffers, const soc::Chip& chip) {
  const std::int64_t m16 = round_up(m, 16);
  if (m16 * panels * 16 * 4 * l0c_buffers > chip.l0c) return 0;
  const std::int64_t a = chip.l0a / 2 / (m16 * fractal_row_bytes(element_bytes));
  const std::int64_t b = chip.l0b / 2 / (std::int64_t{panels} * 16 * fractal_row_bytes(element_bytes));
  return static_cast<int>(std::min<std::int64_t>({a, b, 64}));
}

/// A and B (operands 0 and 1) are of one dtype that the cube takes, and the epilogue's accumulator is of its.
Status check_cube_operands(const Task& task, const VectorProgram& epilogue, std::string_view kernel);

/// L0 buffers of a block: two slices of each operand, one or more output tiles.
struct CubeBlock {
  aicore::Core::CubeBuffers l0;
  std::pmr::vector<aicore::Buffer*> l0c;
  std::size_t next_l0c = 0;
  CubeBlock(aicore::Core& core, const CubeTileSize& t, int element_bytes, int l0c_buffers)
      : l0c(core.scratch()) {
    l0c.reserve(static_cast<std::size_t>(l0c_buffers));
    const std::int64_t m16 = round_up(t.m, 16);
    for (int i = 0; i < 2; ++i) {
      l0.l0a[i] = &core.alloc(aicore::Memory::L0A, m16 * t.k_slice * fractal_row_bytes(element_bytes));
      l0.l0b[i] = &core.alloc(aicore::Memory::L0B,
                              std::int64_t{t.panels} * t.k_slice * 16 * fractal_row_bytes(element_bytes));
    }
    for (int i = 0; i < l0c_buffers; ++i)
      l0c.push_back(&core.alloc(aicore::Memory::L0C, m16 * t.panels * 64));
  }
  aicore::Buffer& take_l0c() {
    next_l0c = (next_l0c + 1) % l0c.size();
    return *l0c[next_l0c];
  }
};

}  // namespace atc::kernels
