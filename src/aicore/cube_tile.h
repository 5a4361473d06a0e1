#pragma once

#include <cstdint>

namespace atc::aicore {

/// Host micro-kernels of the cube: C[rows][16] (+)= sum over steps of A_step[rows][k] x B_step[k][16].
/// `a` holds rows pointers for each step (step-major); `k` the valid lanes of each step, 1 to 16;
/// `b` points at the panel, step s at `b + b_offset[s]` (elements), a fractal of 16 rows of 16.
struct TileArgs {
  const float* const* a = nullptr;
  const std::uint8_t* k = nullptr;
  const std::int64_t* b_offset = nullptr;
  const float* b = nullptr;
  int steps = 0;
  float* c = nullptr;
  std::int64_t c_row_stride = 16;
  bool accumulate = false;
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

/// Rows that one call takes at most.
inline constexpr int kTileRows = 6;
/// Panels that wide[rows] takes.
inline constexpr int kWidePanels[3] = {0, 4, 2};

struct CubeTable {
  /// rows in [1, kTileRows], one panel.
  void (*tile[kTileRows + 1])(const TileArgs&);
  /// One row and four panels, or two rows and two panels, at once (`b_panel_stride`, `c_panel_stride` in
  /// elements): products with few rows would wait for the latency of one accumulator.
  void (*wide[3])(const TileArgs&, std::int64_t b_panel_stride, std::int64_t c_panel_stride);
  /// int8; rows in [1, kTileRows], one panel.
  void (*int8_tile[kTileRows + 1])(const Int8TileArgs&);
};

const CubeTable& cube_table();
const CubeTable& cube_table_generic();
const CubeTable& cube_table_avx2();

}  // namespace atc::aicore
