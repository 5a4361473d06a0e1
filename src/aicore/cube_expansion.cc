// The expansion of the L1 tile product into LoadData (L1 to L0A with im2col, L1 to L0B) and Mmad. Literal
// mode moves every byte by it; dry run and trace take their cycles from it.

#include <algorithm>
#include <cstring>

#include "aicore/core.h"
#include "atc/base/check.h"
#include "atc/base/half.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;

float element(const std::byte* p, DType dtype) {
  switch (dtype) {
    case DType::F16: {
      Half h;
      std::memcpy(&h, p, sizeof h);
      return to_float(h);
    }
    case DType::BF16: {
      BFloat16 b;
      std::memcpy(&b, p, sizeof b);
      return to_float(b);
    }
    case DType::F32: {
      float f = 0;
      std::memcpy(&f, p, sizeof f);
      return f;
    }
    default:
      ATC_CHECK(false, "the cube does not take " + std::string(name(dtype)));
  }
  return 0;
}

/// The taps of one k1 by the fractals that they fill: fractal i takes taps [first(i), first(i + 1)).
class FractalTaps {
 public:
  FractalTaps(const RowMap& map, int lanes) : map_(map) {
    if (map.tap_lanes == 0) {
      count_ = map.taps();
      return;
    }
    in_fractal_ = lanes / map.tap_lanes;
    for (int t = 0; t < map.taps(); ++t)
      if (t == 0 || fractal_of(t) != fractal_of(t - 1)) first_.push_back(t);
    count_ = static_cast<int>(first_.size());
    first_.push_back(map.taps());
  }
  int count() const { return count_; }
  int first(int i) const { return first_.empty() ? i : first_[static_cast<std::size_t>(i)]; }
  /// Number of the fractal of B that tap t is in, and its first lane there.
  std::int64_t fractal_of(int t) const { return map_.b_tap[static_cast<std::size_t>(t)] / in_fractal_; }
  std::int64_t lane_of(int t) const {
    return map_.b_tap[static_cast<std::size_t>(t)] % in_fractal_ * map_.tap_lanes;
  }

 private:
  const RowMap& map_;
  int count_ = 0, in_fractal_ = 1;
  std::vector<int> first_;  // empty: each tap fills one
};

// One element of L0C: sums over the lanes of `count` fractals, which a and b point at for this row and
// column. a_step and b_step lead from one fractal to the next; valid(i) lanes of fractal i count.
template <class F>
void accumulate_floats(std::byte* out, bool join, const std::byte* a, std::int64_t a_step, const std::byte* b,
                       std::int64_t b_step, DType dtype, int count, F valid) {
  const std::int64_t e = bit_width(dtype) / 8;
  float sum = 0;
  if (join) std::memcpy(&sum, out, sizeof sum);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < valid(i); ++k)
      sum += element(a + i * a_step + k * e, dtype) * element(b + i * b_step + k * 16 * e, dtype);
  std::memcpy(out, &sum, sizeof sum);
}

// int8: exact, wrapping; B has pairs of lanes side by side.
template <class F>
void accumulate_int8(std::byte* out, bool join, const std::byte* a, std::int64_t a_step, const std::byte* b,
                     std::int64_t b_step, int count, F valid) {
  std::uint32_t sum = 0;
  if (join) std::memcpy(&sum, out, sizeof sum);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < valid(i); ++k) {
      const int x = static_cast<std::int8_t>(a[i * a_step + k]);
      const int y = static_cast<std::int8_t>(b[i * b_step + k / 2 * 32 + k % 2]);
      sum += static_cast<std::uint32_t>(x * y);
    }
  std::memcpy(out, &sum, sizeof sum);
}

}  // namespace

void Core::expand_product(Buffer& l0c, CubeBuffers& l0, const CubeTile& a, const RowMap& map,
                          const CubeTile& b, DType dtype, int panels, int k_slice, bool accumulate) {
  const std::int64_t e = bit_width(dtype) / 8;
  const int lanes = cube_lanes(dtype);
  const std::int64_t fractal_bytes = std::int64_t{lanes} * 16 * e;
  const int m = map.rows();
  const std::int64_t m16 = round_up(m, 16);
  const FractalTaps taps(map, lanes);
  const int steps = map.k1 * taps.count();
  const bool literal = values_ == Values::Literal;
  // A cube step takes 16 x 16 x 16 of fp16 or 16 x 32 x 16 of int8; fp32 has a quarter of the rate (on chips
  // without fp32 in the cube as the simulator's named extension).
  const Cycle fractal_cycles =
      std::max<std::int64_t>(1, 4096 / chip_.cube_macs_f16) * (dtype == DType::F32 ? 4 : 1);

  // Slices as even as can be: LoadData of a long one would not hide behind the Mmad of a short one.
  const int slices = (steps + k_slice - 1) / k_slice;
  for (int slice = 0, s0 = 0, count = 0; slice < slices; ++slice, s0 += count) {
    count = static_cast<int>(std::int64_t{steps} * (slice + 1) / slices) - s0;
    Buffer& l0a = *l0.l0a[l0.next];
    Buffer& l0b = *l0.l0b[l0.next];
    l0.next ^= 1;
    const std::int64_t a_bytes = m16 * count * lanes * e;
    const std::int64_t b_bytes = panels * count * fractal_bytes;
    ATC_CHECK(a_bytes <= l0a.bytes, "L0A slice of " + std::to_string(a_bytes) +
                                        " bytes beyond its buffer of " + std::to_string(l0a.bytes));
    ATC_CHECK(b_bytes <= l0b.bytes, "L0B slice of " + std::to_string(b_bytes) +
                                        " bytes beyond its buffer of " + std::to_string(l0b.bytes));
    if (literal) {
      std::memset(l0a.own, 0, static_cast<std::size_t>(a_bytes));
      for (int i = 0; i < count; ++i) {
        const int k1 = (s0 + i) / taps.count(), f = (s0 + i) % taps.count();
        const int valid = k1 + 1 == map.k1 ? map.k_last : lanes;
        for (int tap = taps.first(f); tap < taps.first(f + 1); ++tap) {
          const std::size_t t = static_cast<std::size_t>(tap);
          for (int r = 0; r < m; ++r) {
            const std::size_t ri = static_cast<std::size_t>(r);
            std::byte* row = l0a.own + ((i * m16 + r) * lanes + taps.lane_of(tap)) * e;
            if (!map.row_h.empty() &&
                (static_cast<unsigned>(map.row_h[ri] + map.tap_h[t]) >= static_cast<unsigned>(map.height) ||
                 static_cast<unsigned>(map.row_w[ri] + map.tap_w[t]) >= static_cast<unsigned>(map.width))) {
              if (map.pad != 0) std::memset(row, map.pad, static_cast<std::size_t>(valid));
              continue;
            }
            const std::int64_t from = map.base[ri] + k1 * map.k1_stride + map.tap_offset[t];
            std::memcpy(row, a.data + from * e, static_cast<std::size_t>(valid * e));
          }
        }
        const std::int64_t fractal = k1 * map.b_k1_stride + taps.fractal_of(taps.first(f));
        for (int p = 0; p < panels; ++p)
          std::memcpy(l0b.own + (std::int64_t{p} * count + i) * fractal_bytes,
                      b.data + p * b.panel_stride * e + fractal * fractal_bytes,
                      static_cast<std::size_t>(fractal_bytes));
      }
    }
    if (timing_) {
      issue(Pipe::MTE1, kIssue + ceil_div(a_bytes, chip_.l1_to_l0a), "LoadData", a_bytes, {a.buffer}, {&l0a});
      issue(Pipe::MTE1, kIssue + ceil_div(b_bytes, chip_.l1_to_l0b), "LoadData", b_bytes, {b.buffer}, {&l0b});
    }
    if (literal) {
      const bool join = accumulate || s0 > 0;
      // Lanes beyond the valid ones hold zeros in A and anything in B: they are not multiplied. Between taps
      // side by side both hold zeros.
      const auto valid = [&](int i) {
        return map.tap_lanes == 0 && (s0 + i) / taps.count() + 1 == map.k1 ? map.k_last : lanes;
      };
      for (int p = 0; p < panels; ++p)
        for (int r = 0; r < m; ++r)
          for (int n = 0; n < 16; ++n) {
            std::byte* out = l0c.own + ((p * m16 + r) * 16 + n) * 4;
            const std::byte* row = l0a.own + r * lanes * e;
            const std::byte* column = l0b.own + std::int64_t{p} * count * fractal_bytes;
            if (dtype == DType::I8)
              accumulate_int8(out, join, row, m16 * lanes, column + n * 2, fractal_bytes, count, valid);
            else
              accumulate_floats(out, join, row, m16 * lanes * e, column + n * e, fractal_bytes, dtype, count,
                                valid);
          }
    }
    if (timing_)
      issue(Pipe::M, kIssue + (m16 / 16) * panels * count * fractal_cycles, "Mmad", 0, {&l0a, &l0b}, {&l0c});
  }
}

}  // namespace atc::aicore
