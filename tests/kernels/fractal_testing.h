#pragma once

#include "atc/base/math.h"
#include "harness.h"

namespace atc::kernels::testing {

/// A tensor [batch, M, N] in FRACTAL_NZ: N is whole blocks of 16 columns, rows are padded to whole fractals.
struct Fractal {
  std::int64_t batch = 1, rows = 1, cols = 16;

  std::int64_t block_stride() const { return round_up(rows, 16) * 16; }
  std::int64_t matrix() const { return cols / 16 * block_stride(); }
  std::size_t at(std::int64_t b, std::int64_t r, std::int64_t c) const {
    return static_cast<std::size_t>(b * matrix() + c / 16 * block_stride() + r * 16 + c % 16);
  }
  std::size_t elements() const { return static_cast<std::size_t>(batch * matrix()); }
};

/// Adds `t` in that format to the memory; the padding is NaN, so that who reads it shows.
inline int add_fractal(Memory& memory, const Tensor& t, const Fractal& f) {
  const std::size_t e = static_cast<std::size_t>(bit_width(t.dtype) / 8);
  const int id = memory.add(f.elements() * e, 0xFF);
  for (std::int64_t b = 0; b < f.batch; ++b)
    for (std::int64_t r = 0; r < f.rows; ++r)
      for (std::int64_t c = 0; c < f.cols; ++c)
        std::memcpy(memory[id].data() + f.at(b, r, c) * e,
                    t.data.data() + static_cast<std::size_t>((b * f.rows + r) * f.cols + c) * e, e);
  return id;
}

/// An output in that format that nobody has written.
inline int add_fractal_output(Memory& memory, DType dtype, const Fractal& f) {
  return memory.add(f.elements() * static_cast<std::size_t>(bit_width(dtype) / 8), 0xFF);
}

/// Tensor `id` of that format as floats, row-major. `padding_kept` becomes false when an element of the
/// padding is not as add_fractal_output left it.
inline std::vector<float> fractal_floats(const Memory& memory, int id, DType dtype, const Fractal& f,
                                         bool* padding_kept) {
  const std::vector<float> stored = floats(memory, id, dtype);
  std::vector<float> out;
  std::vector<bool> used(stored.size(), false);
  for (std::int64_t b = 0; b < f.batch; ++b)
    for (std::int64_t r = 0; r < f.rows; ++r)
      for (std::int64_t c = 0; c < f.cols; ++c) {
        out.push_back(stored[f.at(b, r, c)]);
        used[f.at(b, r, c)] = true;
      }
  *padding_kept = true;
  const std::size_t e = stored.empty() ? 1 : memory[id].size() / stored.size();
  for (std::size_t i = 0; i < stored.size(); ++i)
    for (std::size_t k = 0; !used[i] && k < e; ++k)
      *padding_kept = *padding_kept && memory[id][i * e + k] == std::byte{0xFF};
  return out;
}

}  // namespace atc::kernels::testing
