#include "ops/fractal_address.h"

#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::ops {
namespace {

constexpr std::int64_t kBlock = 16;  // rows and columns of a fractal of 16 and 32 bits

}  // namespace

bool has_fractal_blocks(const Dims& dims, DType dtype) {
  return dims.size() >= 2 && ir::c0_of(dtype) == kBlock && bit_width(dtype) >= 16 &&
         dims.back() % kBlock == 0 && dims.back() > kBlock && element_count(dims) > 0;
}

FractalAddress fractal_address(const Dims& dims) {
  ATC_CHECK(dims.size() >= 2 && dims.back() % kBlock == 0,
            "no whole blocks of FRACTAL_NZ in [" + to_string(dims) + "]");
  const std::size_t rank = dims.size();
  FractalAddress a;
  a.block_stride = round_up(dims[rank - 2], kBlock) * kBlock;
  a.strides.assign(rank, 0);
  a.strides[rank - 1] = 1;
  a.strides[rank - 2] = kBlock;
  std::int64_t stride = dims.back() / kBlock * a.block_stride;
  for (std::size_t d = rank - 2; d-- > 0;) {
    if (dims[d] != 1) a.strides[d] = stride;
    stride *= dims[d];
  }
  return a;
}

std::optional<kernels::HeadAddress> fractal_head(const kernels::HeadAddress& nd, const Dims& dims,
                                                 std::int64_t batch, std::int64_t heads, std::int64_t rows,
                                                 std::int64_t width) {
  const std::int64_t columns = dims.back(), matrix = dims[dims.size() - 2] * columns;
  const std::int64_t column = nd.offset % columns, row = nd.offset % matrix / columns;
  const std::int64_t step = heads == 1 ? 0 : nd.head_stride, next = batch == 1 ? 0 : nd.batch_stride;
  const bool fits = nd.row_stride == columns && column % kBlock == 0 && width % kBlock == 0 &&
                    step % kBlock == 0 && step >= 0 && column + (heads - 1) * step + width <= columns &&
                    row + rows <= dims[dims.size() - 2] && next % matrix == 0;
  if (!fits) return std::nullopt;
  const std::int64_t block_stride = round_up(dims[dims.size() - 2], kBlock) * kBlock;
  const std::int64_t stored = columns / kBlock * block_stride;  // of one matrix
  kernels::HeadAddress a;
  a.offset = nd.offset / matrix * stored + row * kBlock + column / kBlock * block_stride;
  a.batch_stride = next / matrix * stored;
  a.head_stride = step / kBlock * block_stride;
  a.row_stride = kBlock;
  a.block_stride = block_stride;
  return a;
}

}  // namespace atc::ops
