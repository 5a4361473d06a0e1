#pragma once

#include "atc/base/math.h"
#include "kernels/window.h"

namespace atc::kernels {

/// Tiles are boxes of (planes of one batch item) x D x H x W outputs. An axis is cut only when all axes
/// outside it have extent 1 in the tile, so that a tile's outputs are one run of pixels in each plane.
/// Windows whose patch does not fit UB are cut as well, into parts: boxes of taps that are one run of taps,
/// by the same rule. A tile takes its parts one after the other, each adds to the tile's results.
struct WindowTiling {
  WindowSpec spec;
  std::int64_t planes = 1;                       ///< C1 blocks of a tile
  std::array<std::int64_t, 3> out = {1, 1, 1};   ///< outputs of a tile along D, H, W
  std::array<std::int64_t, 3> part = {1, 1, 1};  ///< taps of a part along D, H, W
  std::int64_t epilogue_rows = 1;                ///< pixels of the epilogue at once

  std::int64_t plane_tiles() const { return ceil_div(spec.c1, planes); }
  std::int64_t axis_tiles(std::size_t a) const { return ceil_div(spec.axis[a].out, out[a]); }
  std::int64_t axis_parts(std::size_t a) const { return ceil_div(spec.axis[a].kernel, part[a]); }
  std::int64_t parts() const { return axis_parts(0) * axis_parts(1) * axis_parts(2); }
  std::int64_t part_taps() const { return part[0] * part[1] * part[2]; }  ///< of the largest part
  std::int64_t taps() const { return spec.axis[0].kernel * spec.axis[1].kernel * spec.axis[2].kernel; }
  std::int64_t tiles() const {
    return spec.batch * plane_tiles() * axis_tiles(0) * axis_tiles(1) * axis_tiles(2);
  }
  bool empty() const;
  std::size_t epilogue_base() const {
    return 1 + (spec.kind == WindowKind::Depthwise ? 1 : 0) + (spec.bias ? 1 : 0);
  }

  /// A tile: where it is, and its geometry for the core.
  struct Place {
    std::int64_t batch = 0, plane = 0;
    std::array<std::int64_t, 3> first = {};  ///< output coordinates
    aicore::WindowTile tile;
    std::int64_t shape_class = 0;
  };
  Place decode(std::int64_t number) const;
  /// Geometry of the outputs [first, first + n) of each axis.
  aicore::WindowTile geometry(std::int64_t plane_count, const std::array<std::int64_t, 3>& first,
                              const std::array<std::int64_t, 3>& n) const;
  /// Part `i` of a tile's windows, and the number of its first tap.
  struct Part {
    aicore::WindowTile tile;
    std::int64_t first_tap = 0;
  };
  Part cut(const aicore::WindowTile& tile, std::int64_t i) const;
  /// Elements of the patch of the largest part of a tile; INT64_MAX / 64 when they are more.
  std::int64_t patch_elements() const;
  /// Pixels over which the epilogue's addresses are linear: a row, a plane, a volume or all planes of a tile.
  std::int64_t linear_run(const aicore::WindowTile& tile) const;

 private:
  std::int64_t cut_class(const Place& p, const std::array<std::int64_t, 3>& n) const;
};

std::int64_t bytes_of(DType dtype);
/// UB that two sets of a tile's buffers take, the epilogue's included.
std::int64_t window_ub_bytes(const WindowTiling& t, const TileProgram& epilogue,
                             const std::vector<Operand>& operands);

Status check_window(const WindowTiling& t, const std::vector<Operand>& operands);
StatusOr<TileProgram> window_epilogue(const WindowSpec& spec, const std::vector<Operand>& operands);
/// Parts and tiles. False when not even one tap of one output fits beside the epilogue.
bool choose_window_tile(WindowTiling& t, const TileProgram& epilogue, const std::vector<Operand>& operands,
                        const soc::Chip& chip);

}  // namespace atc::kernels
