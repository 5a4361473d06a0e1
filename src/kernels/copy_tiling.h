#pragma once

#include <vector>

#include "aicore/tile_copy.h"
#include "kernels/strided_copy.h"

namespace atc::kernels {

/// Runs are padded by no more than a block of channels.
inline constexpr std::int64_t kMostCopyPad = 32;

/// A segment as the kernel runs it: its axes in the order of TileCopy, cut into tiles.
struct CopyPart {
  int src = 0, dst = 1;
  std::int64_t fill_bits = 0;
  std::int64_t src_offset = 0, dst_offset = 0;
  Dims dims, tile, src_strides, dst_strides;
  std::int64_t pad = 0;  ///< elements behind each run of the innermost axis that become `fill_bits`

  /// Tiles along axis d, and of the whole part. Precondition: checked.
  std::int64_t tiles_along(std::size_t d) const;
  std::int64_t tiles() const;
  aicore::TileCopy plan(int element_bytes) const;
};

/// Merges, orders and turns round the axes of a segment (destination strides become positive and descending).
CopyPart normalise(const CopySegment& segment);

/// Joins a fill to the copy whose runs it continues, so that both are stored as one; false when it is no such
/// fill.
bool join_fill(CopyPart& copy, const CopyPart& fill);

/// Chooses `part.tile` for UB buffers of `ub_bytes` in all and about `target_bytes` a tile.
void choose_copy_tile(CopyPart& part, int element_bytes, std::int64_t ub_bytes, std::int64_t target_bytes);

}  // namespace atc::kernels
