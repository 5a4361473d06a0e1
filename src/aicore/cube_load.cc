#include <algorithm>
#include <cstring>

#include "aicore/burst_cost.h"
#include "aicore/core.h"
#include "atc/base/check.h"
#include "atc/base/half.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;

std::int64_t bytes_of(DType dtype) { return bit_width(dtype) / 8; }

void widen(const std::byte* src, DType dtype, float* dst, std::int64_t n) {
  switch (dtype) {
    case DType::F32:
      std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(float));
      break;
    case DType::F16:
      convert(reinterpret_cast<const Half*>(src), dst, static_cast<std::size_t>(n));
      break;
    case DType::BF16:
      convert(reinterpret_cast<const BFloat16*>(src), dst, static_cast<std::size_t>(n));
      break;
    default:
      ATC_CHECK(false, "the cube does not take " + std::string(name(dtype)));
  }
}

// int8 as the int8 product reads it: i16, so that pairs of lanes multiply without another widening.
void widen_int8(const std::byte* src, std::byte* dst, std::int64_t n) {
  const std::int8_t* s = reinterpret_cast<const std::int8_t*>(src);
  std::int16_t* d = reinterpret_cast<std::int16_t*>(dst);
  for (std::int64_t i = 0; i < n; ++i) d[i] = s[i];
}

// Moves rows x cols (either order) into panels [ceil(n/16)][k16][16 k][16 n] of T, zero padded.
template <class T>
void to_panels(const T* src, T* dst, int k, int n, std::int64_t row_stride, bool transposed) {
  const int k16 = static_cast<int>(round_up(k, 16));
  for (int n0 = 0; n0 < n; n0 += 16) {
    T* panel = dst + static_cast<std::int64_t>(n0 / 16) * k16 * 16;
    const int width = std::min(16, n - n0);
    if (width < 16 || k16 != k)
      std::memset(static_cast<void*>(panel), 0, sizeof(T) * static_cast<std::size_t>(k16) * 16);
    if (transposed) {
      for (int j = 0; j < width; ++j) {
        const T* s = src + (n0 + j) * row_stride;
        for (int i = 0; i < k; ++i) panel[i * 16 + j] = s[i];
      }
    } else {
      for (int i = 0; i < k; ++i)
        std::memcpy(panel + i * 16, src + i * row_stride + n0, sizeof(T) * static_cast<std::size_t>(width));
    }
  }
}

// A row-major matrix transposed, dense.
void turn_matrix(const std::byte* src, std::byte* dst, int rows, int cols, std::int64_t row_stride,
                 std::int64_t e) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      std::memcpy(dst + (std::int64_t{c} * rows + r) * e, src + (r * row_stride + c) * e,
                  static_cast<std::size_t>(e));
}

// The same of int8, in pairs of k: [ceil(n/16)][k32 / 2][16 n][2].
void to_int8_panels(const std::byte* src, std::byte* dst, int k, int n, std::int64_t row_stride,
                    bool transposed) {
  const std::int64_t k32 = round_up(k, 32);
  std::memset(dst, 0, static_cast<std::size_t>(round_up(n, 16) * k32));
  const std::int64_t k_step = transposed ? 1 : row_stride, n_step = transposed ? row_stride : 1;
  for (int j = 0; j < n; ++j) {
    std::byte* column = dst + j / 16 * k32 * 16 + j % 16 * 2;
    for (int i = 0; i < k; ++i) column[i / 2 * 32 + i % 2] = src[i * k_step + j * n_step];
  }
}

}  // namespace

// Books the MTE2 move of `blocks` stretches and gives the tile its place; a check of L1 comes first.
Core::CubeTile Core::loaded(Buffer& l1, const Gm& src, DType dtype, std::int64_t blocks,
                            std::int64_t block_elements, std::int64_t elements) {
  ATC_CHECK(elements * bytes_of(dtype) <= l1.bytes,
            "L1 tile of " + std::to_string(elements * bytes_of(dtype)) + " bytes beyond its buffer of " +
                std::to_string(l1.bytes));
  if (timing_) {
    const std::int64_t bytes = block_elements * bytes_of(dtype);
    stats_.gm_read += blocks * bytes;
    issue(Pipe::MTE2, gm_cycles(src, blocks, bytes, false), "DataCopy", blocks * bytes, {}, {&l1});
  }
  l1.data = l1.own;
  CubeTile tile;
  tile.buffer = &l1;
  tile.data = l1.own;
  return tile;
}

// Refuses a matrix of rows x cols beyond `src`, and one in FRACTAL_NZ that is not of whole blocks.
void Core::check_matrix(const Gm& src, std::int64_t element_offset, DType dtype, std::int64_t rows,
                        std::int64_t cols, std::int64_t row_stride, std::int64_t block_stride) const {
  const std::int64_t e = bytes_of(dtype), lanes = cube_lanes(dtype);
  if (block_stride == 0) return check_gm(src, element_offset * e, ((rows - 1) * row_stride + cols) * e);
  ATC_CHECK(cols % lanes == 0 && dtype != DType::I8,
            "FRACTAL_NZ of " + std::to_string(cols) + " columns of " + std::string(name(dtype)));
  check_gm(src, element_offset * e, ((cols / lanes - 1) * block_stride + rows * lanes) * e);
}

// A matrix in FRACTAL_NZ, elements of `e` bytes, as rows of whole columns.
const std::byte* Core::from_blocks(const std::byte* blocks, std::int64_t e, std::int64_t rows,
                                   std::int64_t cols, std::int64_t lanes, std::int64_t block_stride) {
  row_major_.resize(static_cast<std::size_t>(rows * cols * e));
  for (std::int64_t c = 0; c < cols; c += lanes)
    for (std::int64_t r = 0; r < rows; ++r)
      std::memcpy(row_major_.data() + (r * cols + c) * e, blocks + (c / lanes * block_stride + r * lanes) * e,
                  static_cast<std::size_t>(lanes * e));
  return row_major_.data();
}

Core::CubeTile Core::load_matrix_a(Buffer& l1, const Gm& src, std::int64_t element_offset, DType dtype,
                                   int rows, int cols, std::int64_t row_stride, bool transposed,
                                   std::int64_t block_stride) {
  const std::int64_t e = bytes_of(dtype);
  const int lanes = cube_lanes(dtype);
  const int stored_rows = transposed ? cols : rows, stored_cols = transposed ? rows : cols;
  const Stretches moved = matrix_stretches(chip_, stored_rows, stored_cols, lanes, row_stride, block_stride);
  check_matrix(src, element_offset, dtype, stored_rows, stored_cols, row_stride, block_stride);
  CubeTile tile = loaded(l1, src, dtype, moved.blocks, moved.elements, rows * round_up(cols, lanes));
  if (block_stride != 0 && !transposed) {
    tile.row_stride = lanes;
    copy_slabs(tile, l1, computes() ? src.data + element_offset * e : nullptr, dtype, cols / lanes, 1,
               std::int64_t{rows} * lanes, 0, block_stride);
    return tile;
  }
  const std::byte* from = computes() ? src.data + element_offset * e : nullptr;
  if (block_stride != 0 && computes()) {
    from = from_blocks(from, e, stored_rows, stored_cols, lanes, block_stride);
    row_stride = stored_cols;
  }
  if (transposed && computes()) {
    // The matrix as rows x cols, which the moves below take as it is.
    turned_.resize(static_cast<std::size_t>(std::int64_t{rows} * cols * e));
    turn_matrix(from, turned_.data(), cols, rows, row_stride, e);
    from = turned_.data();
    row_stride = cols;
  }
  if (values_ == Values::Literal) {
    tile.row_stride = lanes;
    tile.k1_stride = std::int64_t{rows} * lanes;
    for (int c = 0; c < cols; c += lanes) {
      const int width = std::min(lanes, cols - c);
      std::byte* slab = l1.own + (c / lanes) * tile.k1_stride * e;
      if (width < lanes) std::memset(slab, 0, static_cast<std::size_t>(tile.k1_stride * e));
      for (int r = 0; r < rows; ++r)
        std::memcpy(slab + std::int64_t{r} * lanes * e, from + (r * row_stride + c) * e,
                    static_cast<std::size_t>(width * e));
    }
    return tile;
  }
  tile.k1_stride = lanes;
  tile.row_stride = row_stride;
  if (values_ == Values::None) return tile;
  if (dtype == DType::F32) {
    tile.data = from;
    if (transposed) {
      std::memcpy(l1.own, from, static_cast<std::size_t>(std::int64_t{rows} * cols * e));
      tile.data = l1.own;
    }
    return tile;
  }
  if (dtype == DType::I8) {
    // Whole pairs of columns.
    tile.row_stride = round_up(cols, 2);
    for (int r = 0; r < rows; ++r) {
      std::byte* row = l1.own + r * tile.row_stride * 2;
      widen_int8(from + r * row_stride, row, cols);
      if (cols % 2 != 0) std::memset(row + cols * 2, 0, 2);
    }
    return tile;
  }
  tile.row_stride = cols;
  float* to = reinterpret_cast<float*>(l1.own);
  if (row_stride == cols) {
    widen(from, dtype, to, std::int64_t{rows} * cols);
  } else {
    for (int r = 0; r < rows; ++r) widen(from + r * row_stride * e, dtype, to + std::int64_t{r} * cols, cols);
  }
  return tile;
}

Core::CubeTile Core::load_plane(Buffer& l1, const Gm& src, std::int64_t element_offset, DType dtype, int c1,
                                std::int64_t rows, std::int64_t row_elements, std::int64_t row_stride,
                                std::int64_t c1_stride) {
  const std::int64_t e = bytes_of(dtype);
  const std::int64_t slab = rows * row_elements;
  check_gm(src, element_offset * e, ((c1 - 1) * c1_stride + (rows - 1) * row_stride + row_elements) * e);
  CubeTile tile = loaded(l1, src, dtype, c1 * rows, row_elements, c1 * slab);
  copy_slabs(tile, l1, computes() ? src.data + element_offset * e : nullptr, dtype, c1, rows, row_elements,
             row_stride, c1_stride);
  return tile;
}

// `c1` slabs of `rows` stretches to L1, dense; in Fast mode f32 stays where it is.
void Core::copy_slabs(CubeTile& tile, Buffer& l1, const std::byte* from, DType dtype, int c1,
                      std::int64_t rows, std::int64_t row_elements, std::int64_t row_stride,
                      std::int64_t c1_stride) {
  const std::int64_t e = bytes_of(dtype);
  const std::int64_t slab = rows * row_elements;
  tile.k1_stride = slab;
  if (values_ == Values::None) return;
  if (values_ == Values::Fast && dtype == DType::F32) {
    tile.data = from;
    tile.k1_stride = c1_stride;
    return;
  }
  for (int c = 0; c < c1; ++c)
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::byte* row = from + (c * c1_stride + r * row_stride) * e;
      const std::int64_t to = c * slab + r * row_elements;
      if (values_ == Values::Fast && dtype == DType::I8)
        widen_int8(row, l1.own + to * 2, row_elements);
      else if (values_ == Values::Fast)
        widen(row, dtype, reinterpret_cast<float*>(l1.own) + to, row_elements);
      else
        std::memcpy(l1.own + to * e, row, static_cast<std::size_t>(row_elements * e));
    }
}

Core::CubeTile Core::load_panels(Buffer& l1, const Gm& src, std::int64_t element_offset, DType dtype,
                                 int panels, std::int64_t fractals, std::int64_t panel_stride) {
  const std::int64_t e = bytes_of(dtype);
  const std::int64_t elements = fractals * cube_lanes(dtype) * 16;
  check_gm(src, element_offset * e, ((panels - 1) * panel_stride + elements) * e);
  CubeTile tile = loaded(l1, src, dtype, panels, elements, panels * elements);
  tile.panel_stride = elements;
  if (values_ == Values::None) return tile;
  const std::byte* from = src.data + element_offset * e;
  if (values_ == Values::Fast) {
    tile.data = from;
    tile.panel_stride = panel_stride;
    return tile;
  }
  for (int p = 0; p < panels; ++p)
    std::memcpy(l1.own + p * elements * e, from + p * panel_stride * e,
                static_cast<std::size_t>(elements * e));
  return tile;
}

Core::CubeTile Core::load_matrix_b(Buffer& l1, const Gm& src, std::int64_t element_offset, DType dtype, int k,
                                   int n, std::int64_t row_stride, bool transposed,
                                   std::int64_t block_stride) {
  const std::int64_t e = bytes_of(dtype);
  const int lanes = cube_lanes(dtype);
  const int rows = transposed ? n : k;
  const int cols = transposed ? k : n;
  const std::int64_t panel = round_up(k, lanes) * 16;
  const Stretches moved = matrix_stretches(chip_, rows, cols, lanes, row_stride, block_stride);
  check_matrix(src, element_offset, dtype, rows, cols, row_stride, block_stride);
  CubeTile tile = loaded(l1, src, dtype, moved.blocks, moved.elements, ceil_div(n, 16) * panel);
  tile.panel_stride = panel;
  if (values_ == Values::None) return tile;
  const std::byte* from = src.data + element_offset * e;
  if (block_stride != 0) {
    from = from_blocks(from, e, rows, cols, lanes, block_stride);
    row_stride = cols;
  }
  if (dtype == DType::I8) {
    to_int8_panels(from, l1.own, k, n, row_stride, transposed);
  } else if (e == 4) {
    to_panels(reinterpret_cast<const std::uint32_t*>(from), reinterpret_cast<std::uint32_t*>(l1.own), k, n,
              row_stride, transposed);
  } else {
    to_panels(reinterpret_cast<const std::uint16_t*>(from), reinterpret_cast<std::uint16_t*>(l1.own), k, n,
              row_stride, transposed);
  }
  return tile;
}

Core::CubeTile Core::store_slabs(Buffer& l1, std::int64_t first_slab, Buffer& ub, DType dtype, int rows,
                                 int cols) {
  const std::int64_t e = bytes_of(dtype);
  const std::int64_t slab = std::int64_t{rows} * 16;
  const std::int64_t slabs = ceil_div(cols, 16);
  ATC_CHECK(first_slab >= 0 && (first_slab + slabs) * slab * e <= l1.bytes,
            "slabs beyond their L1 buffer of " + std::to_string(l1.bytes) + " bytes");
  ATC_CHECK(std::int64_t{rows} * cols * e <= ub.bytes, "DataCopy from beyond its UB buffer");
  CubeTile tile;
  tile.buffer = &l1;
  tile.data = l1.own;
  tile.k1_stride = slab;
  if (computes()) {
    l1.data = l1.own;
    const std::int64_t to_element = values_ == Values::Fast ? std::int64_t{sizeof(float)} : e;
    for (std::int64_t s = 0; s < slabs; ++s) {
      const std::int64_t width = std::min<std::int64_t>(16, cols - s * 16);
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::byte* from = ub.data + (r * cols + s * 16) * e;
        std::byte* to = l1.own + ((first_slab + s) * slab + r * 16) * to_element;
        if (values_ == Values::Fast)
          widen(from, dtype, reinterpret_cast<float*>(to), width);
        else
          std::memcpy(to, from, static_cast<std::size_t>(width * e));
      }
    }
  }
  if (timing_) {
    const std::int64_t bytes = slab * e;
    for (std::int64_t s = 0; s < slabs; ++s)
      issue(Pipe::MTE3, kIssue + ceil_div(bytes, chip_.ub_write_l2), "DataCopy", bytes, {&ub}, {&l1});
    // Split cores: the cube core fetches what the vector core has left in L2.
    if (chip_.split)
      issue(Pipe::MTE2, kIssue + ceil_div(slabs * bytes, std::max(chip_.l2_read, 1)), "DataCopy",
            slabs * bytes, {}, {&l1});
  }
  return tile;
}

Core::CubeTile Core::move_matrix_a(Buffer& l1, Buffer& ub, DType dtype, int rows, int cols) {
  const std::int64_t e = bytes_of(dtype);
  const std::int64_t bytes = std::int64_t{rows} * cols * e, stored = rows * round_up(cols, 16) * e;
  ATC_CHECK(bytes <= ub.bytes, "DataCopy from beyond its buffer: " + std::to_string(bytes) + " of " +
                                   std::to_string(ub.bytes) + " bytes");
  ATC_CHECK(stored <= l1.bytes, "L1 tile of " + std::to_string(stored) + " bytes beyond its buffer of " +
                                    std::to_string(l1.bytes));
  if (timing_) {
    const Cycle write = kIssue + ceil_div(stored, chip_.ub_write_l2);
    issue(Pipe::MTE3, write, "DataCopy", stored, {&ub}, {&l1});
    if (chip_.split)
      issue(Pipe::MTE2, kIssue + ceil_div(stored, chip_.l2_read), "DataCopy", stored, {}, {&l1});
  }
  l1.data = l1.own;
  CubeTile tile;
  tile.buffer = &l1;
  tile.data = l1.own;
  if (values_ == Values::Literal) {
    tile.k1_stride = std::int64_t{rows} * 16;
    for (int c = 0; c < cols; c += 16) {
      const int width = std::min(16, cols - c);
      std::byte* slab = l1.own + (c / 16) * tile.k1_stride * e;
      if (width < 16) std::memset(slab, 0, static_cast<std::size_t>(tile.k1_stride * e));
      for (int r = 0; r < rows; ++r)
        std::memcpy(slab + r * 16 * e, ub.data + (std::int64_t{r} * cols + c) * e,
                    static_cast<std::size_t>(width * e));
    }
    return tile;
  }
  tile.k1_stride = 16;
  tile.row_stride = cols;
  if (values_ == Values::None) return tile;
  if (dtype == DType::F32)
    tile.data = ub.data;
  else
    widen(ub.data, dtype, reinterpret_cast<float*>(l1.own), std::int64_t{rows} * cols);
  return tile;
}

}  // namespace atc::aicore
