#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"
#include "atc/base/math.h"

// Mmad. L0A is [m / 16][k / K0][16][K0], L0B [k / K0][n / 16][16 n][K0], L0C [n / 16][m / 16][16][16], K0 =
// 32 bytes.
namespace atc::ascendc {
namespace {

constexpr const char* kWhat = "Mmad";
constexpr std::int64_t kEdge = 16, kMaxExtent = 4095;

/// The lanes of one row of 32 bytes as numbers.
template <class Number>
void widen(std::uint8_t type, const std::byte* from, Number* to, std::int64_t n) {
  if (type == ATC_I4) {
    for (std::int64_t i = 0; i < n; ++i) {
      const int v = static_cast<int>(from[i / 2]) >> (i % 2 * 4) & 15;
      to[i] = static_cast<Number>(v >= 8 ? v - 16 : v);
    }
    return;
  }
  with_type(type, [&]<class T>(T) {
    for (std::int64_t i = 0; i < n; ++i) {
      T v;
      std::memcpy(&v, from + i * static_cast<std::int64_t>(sizeof(T)), sizeof v);
      to[i] = static_cast<Number>(value_of(v));
    }
  });
}

/// A float as the cube unit takes it in the HF32 mode: 11 digits of mantissa.
float hf32(float v, int mode) {
  constexpr std::uint32_t kDropped = 12;
  const auto bits = std::bit_cast<std::uint32_t>(v);
  if ((bits & 0x7f800000U) == 0x7f800000U) return v;
  const std::uint32_t half =
      mode == ATC_HF32_NEAREST ? (1U << (kDropped - 1)) - 1 + (bits >> kDropped & 1U) : 0;
  return std::bit_cast<float>((bits + half) & ~((1U << kDropped) - 1));
}

struct Extents {
  std::int64_t m, n, k, k0, mf, nf, kf;
};

// Row i, lanes of fractal column f.
std::int64_t a_row(const Extents& e, bool gemv, std::int64_t i, std::int64_t f) {
  return gemv ? f * 32 : ((i / kEdge * e.kf + f) * kEdge + i % kEdge) * 32;
}
std::int64_t b_row(const Extents& e, std::int64_t j, std::int64_t f) {
  return ((f * e.nf + j / kEdge) * kEdge + j % kEdge) * 32;
}
std::int64_t c_at(const Extents& e, std::int64_t i, std::int64_t j) {
  return ((j / kEdge * e.mf + i / kEdge) * kEdge + i % kEdge) * kEdge + j % kEdge;
}

void check_operand(Block& b, const AtcSite& site, const AtcLocal& t, std::uint8_t type, const Extents& e,
                   std::int64_t rows, bool is_a, bool gemv) {
  b.check_aligned(site, kWhat, t, gemv ? 32 : 512);
  const std::int64_t bytes = gemv ? ceil_div(e.k, e.k0) * 32 : (is_a ? e.mf : e.nf) * e.kf * 512;
  b.check_extent(site, kWhat, t, 0, bytes);
  b.touch(site, kWhat, Pipe::M, t, 0, bytes, false);
  if (!b.checks || b.shadow(t.memory).written(t.offset, bytes)) return;
  // Lanes beyond m, n and k may be anything.
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t f = 0; f < e.kf; ++f)
      b.need_written(site, kWhat, t, is_a ? a_row(e, gemv, i, f) : b_row(e, i, f),
                     bytes_for(type, std::min(e.k0, e.k - f * e.k0)));
}

template <class Number>
void round_operand(const Block& b, std::uint8_t type, Number* lanes, std::int64_t n) {
  if constexpr (std::is_same_v<Number, float>)
    if (type == ATC_F32 && b.hf32 != ATC_HF32_OFF)
      for (std::int64_t i = 0; i < n; ++i) lanes[i] = hf32(lanes[i], b.hf32);
}

template <class Number, class Sum>
void multiply(Block& b, const AtcMmad& m, const Extents& e, bool gemv, std::vector<Sum>& c) {
  const auto n = static_cast<std::size_t>(e.n);
  std::vector<Number> rows(static_cast<std::size_t>(e.k) * n), lanes(static_cast<std::size_t>(e.k0));
  for (std::int64_t j = 0; j < e.n; ++j)
    for (std::int64_t f = 0; f < e.kf; ++f) {
      const std::int64_t valid = std::min(e.k0, e.k - f * e.k0);
      widen(m.b_type, b.bytes(m.b, b_row(e, j, f)), lanes.data(), valid);
      round_operand(b, m.b_type, lanes.data(), valid);
      for (std::int64_t l = 0; l < valid; ++l)
        rows[static_cast<std::size_t>(f * e.k0 + l) * n + static_cast<std::size_t>(j)] =
            lanes[static_cast<std::size_t>(l)];
    }
  for (std::int64_t i = 0; i < e.m; ++i) {
    Sum* out = c.data() + static_cast<std::size_t>(i) * n;
    for (std::int64_t f = 0; f < e.kf; ++f) {
      const std::int64_t valid = std::min(e.k0, e.k - f * e.k0);
      widen(m.a_type, b.bytes(m.a, a_row(e, gemv, i, f)), lanes.data(), valid);
      round_operand(b, m.a_type, lanes.data(), valid);
      for (std::int64_t l = 0; l < valid; ++l) {
        const Number* row = rows.data() + static_cast<std::size_t>(f * e.k0 + l) * n;
        const auto x = static_cast<Sum>(lanes[static_cast<std::size_t>(l)]);
        for (std::size_t j = 0; j < n; ++j) out[j] += x * static_cast<Sum>(row[j]);
      }
    }
  }
}

// C begins as zero, the bias of each column, or what is there.
template <class Sum, class Stored>
std::vector<Sum> begin(Block& b, const AtcMmad& m, const Extents& e) {
  std::vector<Sum> c(static_cast<std::size_t>(e.m * e.n), Sum{0});
  for (std::int64_t i = 0; i < e.m; ++i)
    for (std::int64_t j = 0; j < e.n; ++j) {
      Sum& v = c[static_cast<std::size_t>(i * e.n + j)];
      if (m.accumulate != 0) {
        Stored old;
        std::memcpy(&old, b.bytes(m.dst, c_at(e, i, j) * static_cast<std::int64_t>(sizeof old)), sizeof old);
        v = static_cast<Sum>(value_of(old));
      } else if (m.bias.bytes != 0) {
        widen(m.bias_type, b.bytes(m.bias, bytes_for(m.bias_type, j)), &v, 1);
      }
    }
  return c;
}

template <class Stored, class Sum>
void put(Block& b, const AtcMmad& m, const Extents& e, const std::vector<Sum>& c) {
  for (std::int64_t i = 0; i < e.m; ++i)
    for (std::int64_t j = 0; j < e.n; ++j) {
      const Stored v =
          stored<Stored>(static_cast<arithmetic_t<Stored>>(c[static_cast<std::size_t>(i * e.n + j)]));
      const std::int64_t at = c_at(e, i, j) * static_cast<std::int64_t>(sizeof v);
      std::memcpy(b.bytes(m.dst, at), &v, sizeof v);
      if (b.checks) b.shadow(m.dst.memory).set_written(m.dst.offset + at, sizeof v);
    }
}

}  // namespace

void mmad(Block& b, const AtcSite& site, const AtcMmad& m) {
  b.begin_instruction();
  b.require_unit(site, kWhat, true);
  if (m.m == 0 || m.n == 0 || m.k == 0) return;
  Extents e{m.m, m.n, m.k, 256 / bits_of(m.a_type), 0, 0, 0};
  e.mf = ceil_div(e.m, kEdge);
  e.nf = ceil_div(e.n, kEdge);
  e.kf = ceil_div(e.k, e.k0);
  if (b.checks && std::max({e.m, e.n, e.k}) > kMaxExtent)
    b.fault(site, "count", [&] {
      return "Mmad of " + std::to_string(e.m) + " x " + std::to_string(e.k) + " x " + std::to_string(e.n) +
             ": m, k and n are at most 4095";
    });
  if (b.checks && (m.dst.memory != ATC_L0C || m.a.memory != ATC_L0A || m.b.memory != ATC_L0B))
    b.stop(site, "unit",
           "Mmad takes A from L0A (A2), B from L0B (B2) and writes L0C (CO1): " + b.describe(m.a) + "; " +
               b.describe(m.b) + "; " + b.describe(m.dst));
  const bool gemv = m.gemv != 0;
  check_operand(b, site, m.a, m.a_type, e, e.m, true, gemv);
  check_operand(b, site, m.b, m.b_type, e, e.n, false, false);
  const std::int64_t out = e.mf * e.nf * kEdge * kEdge * bits_of(m.dst_type) / 8;
  b.check_aligned(site, kWhat, m.dst, 1024);
  b.check_extent(site, kWhat, m.dst, 0, out);
  if (m.bias.bytes != 0 && m.accumulate == 0) {
    b.check_aligned(site, kWhat, m.bias, 64);
    b.check_extent(site, kWhat, m.bias, 0, bytes_for(m.bias_type, e.n));
    b.touch(site, kWhat, Pipe::M, m.bias, 0, bytes_for(m.bias_type, e.n), false);
    b.need_written(site, kWhat, m.bias, 0, bytes_for(m.bias_type, e.n));
  }
  if (m.accumulate != 0 && b.checks)
    for (std::int64_t i = 0; i < e.m; ++i)
      for (std::int64_t j = 0; j < e.n; j += kEdge)
        b.need_written(site, "Mmad (its accumulator)", m.dst, c_at(e, i, j) * bits_of(m.dst_type) / 8,
                       std::min(kEdge, e.n - j) * bits_of(m.dst_type) / 8);
  b.touch(site, kWhat, Pipe::M, m.dst, 0, out, true);
  if (m.dst_type == ATC_I32) {
    auto c = begin<std::int64_t, std::int32_t>(b, m, e);
    multiply<std::int32_t>(b, m, e, gemv, c);
    put<std::int32_t>(b, m, e, c);
  } else {
    auto c = m.dst_type == ATC_F16 ? begin<float, Half>(b, m, e) : begin<float, float>(b, m, e);
    multiply<float>(b, m, e, gemv, c);
    if (m.dst_type == ATC_F16)
      put<Half>(b, m, e, c);
    else
      put<float>(b, m, e, c);
  }
  // Of float a quarter of the rate of half, half of it in the HF32 mode.
  const bool slow = m.a_type == ATC_F32 && b.hf32 == ATC_HF32_OFF;
  b.pipes.issue(Pipe::M, kIssue + e.mf * e.nf * e.kf * (slow ? 2 : 1), kWhat, out);
}

}  // namespace atc::ascendc
