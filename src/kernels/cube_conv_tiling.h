#pragma once

#include <span>

#include "kernels/cube_conv.h"
#include "kernels/cube_search.h"

namespace atc::kernels {

inline constexpr std::string_view kConvKernel = "cube_conv";

/// One tile of a convolution's output: pixels of one depth plane of a phase x panels of 16 channels; of
/// `images` items of the batch from `batch` on, each of which begins a row of fractals.
struct ConvTile {
  std::size_t phase = 0;
  std::int64_t batch = 0, group = 0, depth = 0;
  std::int64_t images = 1;
  std::int64_t panel0 = 0, panels = 1;
  std::int64_t first_pixel = 0, pixels = 1;  ///< of each image

  /// Rows of L0C from one image to the next, and of all of them.
  std::int64_t image_rows() const { return round_up(pixels, 16); }
  std::int64_t rows() const { return (images - 1) * image_rows() + pixels; }
};

struct ConvTiling {
  ConvSpec spec;
  CubeTileSize tile;
  std::int64_t k_chunk = 1;         ///< C1 blocks in L1 at once
  std::int64_t patch_elements = 0;  ///< of one C1 block's input rows, at most
  std::int64_t ub_rows = 1;         ///< pixels of the epilogue at once
  std::int64_t tap_span = 1;  ///< taps of the weights in L1 at once; below spec.taps only with one C1 block
  int a_buffers = 2, b_buffers = 2;  ///< of input patches and of weights in L1
  int l0c_buffers = 2;
  bool rows_inner = false;   ///< consecutive tiles share their weights, else their input patch
  bool whole_plane = true;   ///< epilogue addresses are linear over a whole plane, not only a row
  bool pairs = false;        ///< the epilogue takes two panels at once: the blocks of its 8-bit operands
  bool part_rows = false;    ///< a tile is part of one output row, and L1 has only the columns it needs
  bool tap_patches = false;  ///< with part_rows: L1 has only what one part of the taps touches
  int images = 1;  ///< items of the batch in a tile; more than one have whole planes, padded to fractals

  std::int64_t span_fractals() const { return tap_span / spec.taps_in_fractal; }
  std::int64_t epilogue_lanes() const { return pairs ? 32 : 16; }
  aicore::AccLayout acc_layout() const {
    return pairs ? aicore::AccLayout::Pairs : aicore::AccLayout::Panels;
  }
  std::int64_t panel_tiles() const { return ceil_div(spec.n1, std::int64_t{tile.panels}); }
  std::int64_t phase_tiles(const ConvPhase& p) const {
    return batch_tiles() * spec.groups * p.count[0] * pixel_tiles(p) * panel_tiles();
  }
  std::int64_t batch_tiles() const { return ceil_div(spec.batch, std::int64_t{images}); }
  std::int64_t pixel_tiles(const ConvPhase& p) const {
    return part_rows ? p.count[1] * row_tiles(p) : ceil_div(p.count[1] * p.count[2], std::int64_t{tile.m});
  }
  std::int64_t row_tiles(const ConvPhase& p) const { return ceil_div(p.count[2], std::int64_t{tile.m}); }
  std::int64_t tiles() const;
  ConvTile decode(std::int64_t number) const;
  /// The tiling that one of conv_plans stands for; `element_bytes` of the operands.
  ConvTiling with(const CubePlan& plan, int element_bytes) const;
};

/// How many of the taps, sorted by index, lie within `span` taps of the first.
std::size_t taps_within(std::span<const ConvTap> taps, std::int64_t span);
/// Reads and checks a task's parameters.
Status unpack_conv(const Task& task, ConvTiling& t);
StatusOr<TileProgram> conv_epilogue(const ConvTiling& t, const std::vector<Operand>& operands);
std::unique_ptr<PreparedKernel> conv_kernel(const ConvTiling& tiling, const TileProgram& epilogue,
                                            DType dtype);

/// Every way to cut the convolution that takes whole rows of pixels and all taps to L1, with its estimated
/// cycles; empty when none fits the chip. `prune`: see PlanList.
std::vector<CubePlan> conv_plans(const ConvTiling& tiling, const TileProgram& epilogue,
                                 const std::vector<Operand>& operands, const soc::Chip& chip,
                                 bool prune = true);
/// A tiling without a tile for `spec`, to be completed by `with`.
ConvTiling conv_tiling(const ConvSpec& spec);
/// The parameters of a task.
std::vector<std::int64_t> conv_params(ConvTiling tiling);
Task pack_conv(const ConvTiling& tiling, std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
