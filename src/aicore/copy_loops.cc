// Host loops of tile copies. Vectors are 16 bytes wide, which every x86-64 has; copies are bound by memory.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "aicore/tile_copy.h"

namespace atc::aicore {
namespace {

using i64 = std::int64_t;
using Extents = TileCopy::Extents;

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

using v2u64 = std::uint64_t __attribute__((vector_size(16), aligned(1), may_alias));
using v4u32 = std::uint32_t __attribute__((vector_size(16), aligned(1), may_alias));
using v8u16 = std::uint16_t __attribute__((vector_size(16), aligned(1), may_alias));
using v16u8 = std::uint8_t __attribute__((vector_size(16), aligned(1), may_alias));

template <class V>
V load(const void* p) {
  return *static_cast<const V*>(p);
}
template <class V>
void store(void* p, V v) {
  *static_cast<V*>(p) = v;
}

// Interleaves the lower (upper) halves: the step from which all transpositions of registers are made.
inline v2u64 low(v2u64 a, v2u64 b) { return __builtin_shufflevector(a, b, 0, 2); }
inline v2u64 high(v2u64 a, v2u64 b) { return __builtin_shufflevector(a, b, 1, 3); }
inline v4u32 low(v4u32 a, v4u32 b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline v4u32 high(v4u32 a, v4u32 b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
inline v8u16 low(v8u16 a, v8u16 b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
inline v8u16 high(v8u16 a, v8u16 b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
inline v16u8 low(v16u8 a, v16u8 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline v16u8 high(v16u8 a, v16u8 b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/// The widest vector of a type of elements.
template <class T>
struct Wide;
template <>
struct Wide<std::uint8_t> {
  using V = v16u8;
};
template <>
struct Wide<std::uint16_t> {
  using V = v8u16;
};
template <>
struct Wide<std::uint32_t> {
  using V = v4u32;
};
template <>
struct Wide<std::uint64_t> {
  using V = v2u64;
};

/// An N x N block, N = 16 / sizeof(T): after log2(N) rounds of interleaving register i with i + N/2 each
/// register holds one column.
template <class T>
inline void transpose_block(T* dst, i64 dst_stride, const T* src, i64 src_stride) {
  using V = typename Wide<T>::V;
  constexpr int N = 16 / sizeof(T);
  V a[N], b[N];
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) a[i] = load<V>(src + i * src_stride);
#pragma GCC unroll 4
  for (int round = 1; round < N; round *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < N / 2; ++i) {
      b[2 * i] = low(a[i], a[i + N / 2]);
      b[2 * i + 1] = high(a[i], a[i + N / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) a[i] = b[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) store<V>(dst + i * dst_stride, a[i]);
}

/// dst[i * dst_stride + j] = src[j * src_stride + i], i < ni, j < nj.
template <class T>
void transpose(T* dst, i64 dst_stride, i64 ni, const T* src, i64 src_stride, i64 nj) {
  constexpr i64 N = 16 / sizeof(T);
  const i64 bi = ni / N * N, bj = nj / N * N;
  // Strips as wide as a cache line along the destination's runs.
  constexpr i64 kStrip = 64 / sizeof(T);
  for (i64 j0 = 0; j0 < bj; j0 += kStrip)
    for (i64 i = 0; i < bi; i += N)
      for (i64 j = j0; j < std::min(bj, j0 + kStrip); j += N)
        transpose_block<T>(dst + i * dst_stride + j, dst_stride, src + j * src_stride + i, src_stride);
  for (i64 j = bj; j < nj; ++j)
    for (i64 i = 0; i < bi; ++i) dst[i * dst_stride + j] = src[j * src_stride + i];
  for (i64 i = bi; i < ni; ++i)
    for (i64 j = 0; j < nj; ++j) dst[i * dst_stride + j] = src[j * src_stride + i];
}

template <class T>
void strided_plane(T* dst, i64 d0, i64 d1, const T* src, i64 s0, i64 s1, i64 n0, i64 n1) {
  if (d1 == 1 && s1 == 0) {
    for (i64 i = 0; i < n0; ++i) std::fill_n(dst + i * d0, n1, src[i * s0]);
    return;
  }
  if (d1 == 1 && s1 == -1) {
    for (i64 i = 0; i < n0; ++i) std::reverse_copy(src + i * s0 - (n1 - 1), src + i * s0 + 1, dst + i * d0);
    return;
  }
  if (d1 == 1 && s1 == 2) {  // every second element: common in slices and in 2 x 2 blocks
    for (i64 i = 0; i < n0; ++i) {
      T* d = dst + i * d0;
      const T* s = src + i * s0;
      for (i64 j = 0; j < n1; ++j) d[j] = s[2 * j];
    }
    return;
  }
  for (i64 i = 0; i < n0; ++i) {
    T* d = dst + i * d0;
    const T* s = src + i * s0;
    for (i64 j = 0; j < n1; ++j) d[j * d1] = s[j * s1];
  }
}

/// Runs of a fixed size are moves of registers.
template <std::size_t BYTES>
void fixed_runs(std::byte* dst, i64 d, const std::byte* src, i64 s, i64 n) {
  for (i64 i = 0; i < n; ++i) std::memcpy(dst + i * d, src + i * s, BYTES);
}

void runs(std::byte* dst, i64 d, const std::byte* src, i64 s, i64 n, i64 bytes) {
  switch (bytes) {
    case 4:
      return fixed_runs<4>(dst, d, src, s, n);
    case 8:
      return fixed_runs<8>(dst, d, src, s, n);
    case 16:
      return fixed_runs<16>(dst, d, src, s, n);
    case 32:
      return fixed_runs<32>(dst, d, src, s, n);
    case 64:
      return fixed_runs<64>(dst, d, src, s, n);
    default:
      for (i64 i = 0; i < n; ++i) std::memcpy(dst + i * d, src + i * s, static_cast<std::size_t>(bytes));
  }
}

/// The axes of a box without those of one element, neighbours merged where both sides chain.
struct Box {
  int rank = 0;
  Extents n{}, d{}, s{};

  Box(int axes, const Extents& extents, const Extents& dst, const Extents& src) {
    for (int a = 0; a < axes; ++a) {
      const std::size_t k = at(a);
      if (extents[k] == 1) continue;
      if (rank > 0 && d[at(rank - 1)] == dst[k] * extents[k] && s[at(rank - 1)] == src[k] * extents[k]) {
        n[at(rank - 1)] *= extents[k];
        d[at(rank - 1)] = dst[k];
        s[at(rank - 1)] = src[k];
        continue;
      }
      n[at(rank)] = extents[k];
      d[at(rank)] = dst[k];
      s[at(rank)] = src[k];
      ++rank;
    }
  }

  struct Axis {
    i64 n = 1, d = 0, s = 0;
  };
  Axis take(int axis) {
    if (axis < 0) return {};
    const Axis out{n[at(axis)], d[at(axis)], s[at(axis)]};
    for (int a = axis; a + 1 < rank; ++a) {
      n[at(a)] = n[at(a + 1)];
      d[at(a)] = d[at(a + 1)];
      s[at(a)] = s[at(a + 1)];
    }
    --rank;
    return out;
  }

  /// f(destination element, source element) for each position of the axes that are left.
  template <class F>
  void walk(F f) const {
    Extents i{};
    i64 to = 0, from = 0;
    for (;;) {
      f(to, from);
      int a = rank - 1;
      for (; a >= 0; --a) {
        to += d[at(a)];
        from += s[at(a)];
        if (++i[at(a)] < n[at(a)]) break;
        to -= d[at(a)] * n[at(a)];
        from -= s[at(a)] * n[at(a)];
        i[at(a)] = 0;
      }
      if (a < 0) return;
    }
  }
};

template <class T>
void copy_box(std::byte* dst_bytes, const std::byte* src_bytes, Box box) {
  T* dst = reinterpret_cast<T*>(dst_bytes);
  const T* src = reinterpret_cast<const T*>(src_bytes);
  const Box::Axis inner = box.take(box.rank - 1);
  if (inner.n == 1 || (inner.d == 1 && inner.s == 1)) {
    const Box::Axis next = box.take(box.rank - 1);
    constexpr i64 e = sizeof(T);
    box.walk([&](i64 to, i64 from) {
      runs(reinterpret_cast<std::byte*>(dst + to), next.d * e, reinterpret_cast<const std::byte*>(src + from),
           next.s * e, next.n, inner.n * e);
    });
    return;
  }
  int across = -1;
  for (int a = 0; a < box.rank && inner.d == 1; ++a)
    if (box.s[at(a)] == 1) across = a;
  if (across >= 0) {
    const Box::Axis other = box.take(across);
    box.walk(
        [&](i64 to, i64 from) { transpose<T>(dst + to, other.d, other.n, src + from, inner.s, inner.n); });
    return;
  }
  const Box::Axis next = box.take(box.rank - 1);
  box.walk([&](i64 to, i64 from) {
    strided_plane<T>(dst + to, next.d, inner.d, src + from, next.s, inner.s, next.n, inner.n);
  });
}

}  // namespace

void copy_strided(std::byte* dst, const std::byte* src, int element_bytes, int rank, const Extents& n,
                  const Extents& dst_strides, const Extents& src_strides) {
  const Box box(rank, n, dst_strides, src_strides);
  switch (element_bytes) {
    case 1:
      return copy_box<std::uint8_t>(dst, src, box);
    case 2:
      return copy_box<std::uint16_t>(dst, src, box);
    case 4:
      return copy_box<std::uint32_t>(dst, src, box);
    default:
      return copy_box<std::uint64_t>(dst, src, box);
  }
}

void fill_strided(std::byte* dst, const std::byte* value, int element_bytes, int rank, const Extents& n,
                  const Extents& dst_strides) {
  std::uint64_t element = 0;
  std::memcpy(&element, value, static_cast<std::size_t>(element_bytes));
  copy_strided(dst, reinterpret_cast<const std::byte*>(&element), element_bytes, rank, n, dst_strides,
               Extents{});
}

}  // namespace atc::aicore
