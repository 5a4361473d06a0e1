#pragma once

#include <array>
#include <cstdint>

namespace atc::aicore {

/// One step of a product's reduction: `k` lanes and where they begin in the rows of A and in a panel of B, in
/// elements.
struct TileStep {
  std::int64_t a = 0, b = 0, k = 0;
};

/// Host micro-kernels of the cube: C[rows][16] (+)= sum over steps of A_step[rows][k] x B_step[k][16]. B is
/// f32, f16 or bf16, widened as it is read; a panel has 16 columns. A call takes `groups` groups of as many
/// rows as its kernel has accumulators for, one after the other: the panel stays in the host's L1 cache.
struct TileArgs {
  /// The rows' first elements, to which a step's `a` is added; or a pointer for each row of each step
  /// (step-major), which needs no more.
  const float* const* rows = nullptr;
  const TileStep* steps = nullptr;
  std::int64_t count = 0;  ///< of steps
  const void* b = nullptr;
  float* c = nullptr;
  std::int64_t c_row_stride = 16;
  bool accumulate = false;
  int groups = 1;  ///< more than one only of rows given by their first elements
  /// What a later call reads of B: each group fetches so many lines of 64 bytes of it into the host's L2
  /// cache.
  const void* next = nullptr;
  int next_lines = 0;
};

/// The same of int8: C[rows][16] i32 (+)= A (as i16) x B, exact and wrapping. Lanes go in pairs: `pairs` of
/// each step, 1 to 16, and a fractal of B is [16 pairs][16 n][2]. Both lanes of a pair are read.
struct Int8TileArgs {
  const std::int16_t* const* a = nullptr;
  const std::uint8_t* pairs = nullptr;
  const std::int64_t* b_offset = nullptr;
  const std::int8_t* b = nullptr;
  int steps = 0;
  std::int32_t* c = nullptr;
  std::int64_t c_row_stride = 16;
  bool accumulate = false;
};

/// Rows of a group at most: of a whole panel, and of one whose columns from 8 on are zero.
inline constexpr int kTileRows = 6;
inline constexpr int kHalfRows = 8;
/// Panels that wide[rows] takes.
inline constexpr std::array<int, 4> kWidePanels = {0, 4, 2, 2};
inline constexpr int kWideRows = 3;

using TileKernel = void (*)(const TileArgs&);
using WideKernel = void (*)(const TileArgs&, std::int64_t b_panel_stride, std::int64_t c_panel_stride);

/// The kernels of one way in which rows are given and one type of B.
struct ProductKernels {
  std::array<TileKernel, kTileRows + 1> tile;  ///< rows in [1, kTileRows], one panel
  std::array<TileKernel, kHalfRows + 1> half;  ///< rows in [1, kHalfRows]; columns of B from 8 on are zero
  /// Few rows and several panels at once (`b_panel_stride`, `c_panel_stride` in elements): alone they would
  /// wait for the latency of one accumulator.
  std::array<WideKernel, kWideRows + 1> wide;
};

struct CubeTable {
  /// By how rows are given: their first elements, or a pointer a step; by B: f32, f16, bf16.
  std::array<std::array<ProductKernels, 3>, 2> product;
  /// int8; rows in [1, kTileRows], one panel.
  void (*int8_tile[kTileRows + 1])(const Int8TileArgs&);
};

const CubeTable& cube_table();
const CubeTable& cube_table_generic();
const CubeTable& cube_table_avx2();

}  // namespace atc::aicore
