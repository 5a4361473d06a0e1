#pragma once

#include <optional>

#include "kernels/attention.h"
#include "ops/op.h"

namespace atc::ops {

/// Whether a tensor of these dims may be walked in FRACTAL_NZ by the kernels that know it: blocks of columns
/// are whole and several, for one block is row-major.
bool has_fractal_blocks(const Dims& dims, DType dtype);

/// How the elements of a tensor in FRACTAL_NZ lie.
struct FractalAddress {
  Dims strides;                   ///< along the logical axes; that of the columns holds within a block of 16
  std::int64_t block_stride = 0;  ///< from one block of columns to the next
};
/// Of logical dims with has_fractal_blocks. Axes of length 1 have stride 0, the last two apart.
FractalAddress fractal_address(const Dims& dims);

/// The heads at `nd` of a row-major tensor of dims `dims`, when the tensor is in FRACTAL_NZ: `heads` heads of
/// `rows` rows of `width` elements, of `batch` batches. nullopt when they are not whole blocks of columns of
/// the tensor's own rows.
std::optional<kernels::HeadAddress> fractal_head(const kernels::HeadAddress& nd, const Dims& dims,
                                                 std::int64_t batch, std::int64_t heads, std::int64_t rows,
                                                 std::int64_t width);

}  // namespace atc::ops
