#pragma once

#include <vector>

#include "atc/base/tensor.h"
#include "kernels/task.h"

namespace atc::kernels {

/// A box of elements that moves: dst[dst_offset + sum i_d * dst_strides[d]] =
/// src[src_offset + sum i_d * src_strides[d]] for each position i of `dims`. All in elements.
struct CopySegment {
  int src = 0;  ///< operand; -1: every element becomes `fill_bits`
  int dst = 1;  ///< operand
  Dims dims;
  std::int64_t src_offset = 0;
  Dims src_strides;  ///< any sign; 0 repeats
  std::int64_t dst_offset = 0;
  Dims dst_strides;             ///< not 0 where the dim is not 1, and no element is written twice
  std::uint64_t fill_bits = 0;  ///< the element's bytes, low ones first
};

/// What a strided-copy task does: Transpose, Slice, Concat, Split, Pad, Expand, Tile, SpaceToDepth,
/// conversion of storage formats. Segments must not overlap in their destinations.
struct CopySpec {
  int element_bytes = 4;  ///< 1, 2, 4 or 8
  std::vector<CopySegment> segments;
};

/// Builds the task. Dims are merged and ordered, tiles are chosen for the chip: block copies where both sides
/// run along the same axis, transposition in UB where they do not. Segments without elements are dropped.
/// E10041 when an access leaves its operand, or when more than 12 axes remain after merging.
StatusOr<Task> make_strided_copy(const CopySpec& spec, std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
