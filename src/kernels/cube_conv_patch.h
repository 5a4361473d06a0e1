#pragma once

#include "kernels/cube_conv_tiling.h"

namespace atc::kernels {

// How much of one block of channels of the input L1 holds for a tile of a convolution.

/// Rows of the input from one that a tile of `images` images loads to the next: the stride along H when the
/// kernel has one row and the tile one image, else 1.
std::int64_t row_step(const ConvSpec& spec, int images);

/// Pixels of one image that the tiles of `pixels` consecutive output pixels of a plane of the first phase
/// load on average, every `step`-th row.
std::int64_t mean_patch(const ConvSpec& spec, std::int64_t pixels, std::int64_t step);

/// Elements of the largest patch that any tile needs; `element_bytes` of the operands.
std::int64_t largest_patch(const ConvTiling& tiling, int element_bytes);

}  // namespace atc::kernels
