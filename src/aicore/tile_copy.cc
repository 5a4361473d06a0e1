// Tile copies as macro-instructions: in Literal mode and in a dry run they expand into DataCopy, Copy and
// TransDataTo5HD; in Fast mode the host moves the tile from Global Memory to Global Memory at once.

#include "aicore/tile_copy.h"

#include <algorithm>
#include <cstdlib>

#include "aicore/core.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

using Extents = TileCopy::Extents;

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

// A source stride up to this many bytes is loaded with its gaps: the MTE moves bursts of 32 bytes anyway.
constexpr std::int64_t kSpanBytes = 64;

std::int64_t span_of(std::int64_t n, std::int64_t stride) { return (n - 1) * std::abs(stride) + 1; }

/// Walks a box: f(offset of each list of strides).
template <int LISTS, class F>
void walk(int rank, const Extents& n, const std::array<const Extents*, LISTS>& strides, F f) {
  Extents i{};
  std::array<std::int64_t, LISTS> offset{};
  for (;;) {
    f(offset);
    int d = rank - 1;
    for (; d >= 0; --d) {
      for (int k = 0; k < LISTS; ++k) offset[at(k)] += (*strides[at(k)])[at(d)];
      if (++i[at(d)] < n[at(d)]) break;
      for (int k = 0; k < LISTS; ++k) offset[at(k)] -= (*strides[at(k)])[at(d)] * n[at(d)];
      i[at(d)] = 0;
    }
    if (d < 0) return;
  }
}

/// A box of elements that moves between Global Memory and UB, axes outermost first.
struct Transfer {
  int rank = 0;
  Extents n{}, gm{}, ub{};

  void add(std::int64_t extent, std::int64_t gm_stride, std::int64_t ub_stride) {
    n[at(rank)] = extent;
    gm[at(rank)] = gm_stride;
    ub[at(rank)] = ub_stride;
    ++rank;
  }

  /// Calls f(gm element, ub element, burst) for each DataCopy that the box takes.
  template <class F>
  void bursts(std::int64_t e, F f) const {
    // Axes of one element do not count.
    Transfer t;
    for (int d = 0; d < rank; ++d)
      if (n[at(d)] > 1) t.add(n[at(d)], gm[at(d)], ub[at(d)]);
    std::int64_t run = 1;
    while (t.rank > 0 && t.gm[at(t.rank - 1)] == run && t.ub[at(t.rank - 1)] == run) run *= t.n[at(--t.rank)];
    Burst burst{1, run * e, 0, 0};
    if (t.rank > 0) {
      const std::size_t d = at(--t.rank);
      burst = {t.n[d], run * e, t.gm[d] * e, t.ub[d] * e};
      while (t.rank > 0 && t.gm[at(t.rank - 1)] == t.gm[d] * t.n[d] &&
             t.ub[at(t.rank - 1)] == t.ub[d] * t.n[d]) {
        const std::size_t outer = at(--t.rank);
        burst.count *= t.n[outer];
        t.n[d] *= t.n[outer];
      }
    }
    walk<2>(t.rank, t.n, {&t.gm, &t.ub},
            [&](const std::array<std::int64_t, 2>& o) { f(o[0] * e, o[1] * e, burst); });
  }
};

}  // namespace

void TileCopy::plan() {
  loaded = 0;
  for (int d = 0; d < rank; ++d)
    if (src_strides[at(d)] != 0) src_order[at(loaded++)] = d;
  std::stable_sort(src_order.begin(), src_order.begin() + loaded,
                   [&](int a, int b) { return std::abs(src_strides[at(a)]) > std::abs(src_strides[at(b)]); });
  const int inner = rank - 1;
  permute = span = false;
  if (loaded == 0) {
    permute = rank > 0;  // one element, spread
    return;
  }
  const int src_inner = src_order[at(loaded - 1)];
  const std::int64_t step = src_strides[at(src_inner)];
  if (src_inner == inner && step == 1) return;
  // Both sides stride over the same axis and gaps are wide: elements move one by one.
  const bool wide = std::abs(step) * element_bytes > kSpanBytes;
  if (src_inner == inner && wide) return;
  permute = true;
  span = step != 1 && !wide;
}

Extents TileCopy::load_strides(const Extents& n) const {
  Extents out{};
  std::int64_t next = 1;
  for (int k = loaded; k-- > 0;) {
    const int d = src_order[at(k)];
    const bool gaps = span && k + 1 == loaded;
    out[at(d)] = gaps ? std::abs(src_strides[at(d)]) : next;
    next *= gaps ? span_of(n[at(d)], src_strides[at(d)]) : n[at(d)];
  }
  return out;
}

Extents TileCopy::store_strides(const Extents& n) const {
  Extents out{};
  std::int64_t next = 1;
  for (int d = rank; d-- > 0;) {
    if (src_strides[at(d)] == 0 && d + 1 != rank) continue;
    out[at(d)] = next;
    next *= n[at(d)] + (d + 1 == rank ? pad : 0);
  }
  return out;
}

std::int64_t TileCopy::load_bytes(const Extents& n) const {
  if (!permute) return 0;
  std::int64_t elements = 1;
  for (int k = 0; k < loaded; ++k) {
    const int d = src_order[at(k)];
    elements *= span && k + 1 == loaded ? span_of(n[at(d)], src_strides[at(d)]) : n[at(d)];
  }
  return elements * element_bytes;
}

std::int64_t TileCopy::store_bytes(const Extents& n) const {
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d)
    if (src_strides[at(d)] != 0 || d + 1 == rank) elements *= n[at(d)] + (d + 1 == rank ? pad : 0);
  return elements * element_bytes;
}

TileCopy::Reach TileCopy::stored_reach(const Extents& n) const {
  Reach r = reach(n, dst_strides, rank);
  r.high += pad;
  return r;
}

TileCopy::Reach TileCopy::reach(const Extents& n, const Extents& strides, int rank) {
  Reach r;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t span = (n[at(d)] - 1) * strides[at(d)];
    (span < 0 ? r.low : r.high) += span;
  }
  return r;
}

void Core::copy_tile(const TileCopy& copy, const TileCopy::Extents& n, const Gm& dst,
                     std::int64_t dst_element, const Gm& src, std::int64_t src_element, Buffer& load,
                     Buffer& store) {
  const std::int64_t e = copy.element_bytes;
  for (int d = 0; d < copy.rank; ++d)
    if (n[at(d)] <= 0) return;
  ATC_CHECK(copy.load_bytes(n) <= load.bytes || !copy.permute, "tile copy beyond its UB buffer");
  ATC_CHECK(copy.store_bytes(n) <= store.bytes, "tile copy beyond its UB buffer");
  const TileCopy::Reach from = TileCopy::reach(n, copy.src_strides, copy.rank);
  const TileCopy::Reach to = copy.stored_reach(n);
  check_gm(src, (src_element + from.low) * e, (from.high - from.low + 1) * e);
  check_gm(dst, (dst_element + to.low) * e, (to.high - to.low + 1) * e);
  if (values_ == Values::Fast) {
    copy_strided(dst.data + dst_element * e, src.data + src_element * e, copy.element_bytes, copy.rank, n,
                 copy.dst_strides, copy.src_strides);
    if (copy.pad > 0) {
      TileCopy::Extents behind = n;
      behind[at(copy.rank - 1)] = copy.pad;
      fill_strided(dst.data + (dst_element + n[at(copy.rank - 1)]) * e,
                   reinterpret_cast<const std::byte*>(&copy.fill_bits), copy.element_bytes, copy.rank, behind,
                   copy.dst_strides);
    }
  }
  if (values_ != Values::Literal && !timing_) return;
  const Values mode = values_;
  if (mode == Values::Fast) values_ = Values::None;  // what follows is for the timeline only
  expand_copy(copy, n, dst, dst_element, src, src_element, load, store);
  values_ = mode;
}

void Core::expand_copy(const TileCopy& copy, const TileCopy::Extents& n, const Gm& dst,
                       std::int64_t dst_element, const Gm& src, std::int64_t src_element, Buffer& load,
                       Buffer& store) {
  const std::int64_t e = copy.element_bytes;
  const Extents stored = copy.store_strides(n);
  const Extents in = copy.permute ? copy.load_strides(n) : stored;
  // Backward axes are loaded forward when a permutation turns them round, else burst by burst.
  Transfer up;
  std::int64_t gm_low = 0, ub_first = 0;
  Extents turned = in;
  auto load_axis = [&](int d) {
    std::int64_t step = copy.src_strides[at(d)];
    std::int64_t extent = n[at(d)], ub = in[at(d)];
    if (copy.permute && step < 0) {
      gm_low += (extent - 1) * step;
      ub_first += (extent - 1) * ub;
      turned[at(d)] = -ub;
      step = -step;
    }
    if (copy.span && d == copy.src_order[at(copy.loaded - 1)]) {
      extent = span_of(extent, step);
      step = ub = 1;
    }
    up.add(extent, step, ub);
  };
  if (copy.permute) {
    for (int k = 0; k < copy.loaded; ++k) load_axis(copy.src_order[at(k)]);
  } else {
    for (int d = 0; d < copy.rank; ++d)
      if (copy.src_strides[at(d)] != 0) load_axis(d);
  }
  if (copy.pad > 0) fill(store, 0, copy.store_bytes(n) / e, copy.element_bytes, &copy.fill_bits);
  Buffer& first = copy.permute ? load : store;
  up.bursts(e, [&](std::int64_t gm, std::int64_t ub, const Burst& burst) {
    copy_in(first, ub, src, (src_element + gm_low) * e + gm, burst);
  });

  if (copy.permute) {
    // Rows are the axis along which the source runs, columns the one along which the destination does.
    const int col = copy.rank - 1;
    int row = copy.loaded > 0 ? copy.src_order[at(copy.loaded - 1)] : col;
    for (int d = copy.rank - 2; row == col && d >= 0; --d)
      if (stored[at(d)] != 0) row = d;
    Extents outer = n, from = turned, to = stored;
    for (int d = 0; d < copy.rank; ++d)
      if (d == row || d == col || (copy.src_strides[at(d)] == 0 && d != col)) outer[at(d)] = 1;
    walk<2>(copy.rank, outer, {&from, &to}, [&](const std::array<std::int64_t, 2>& o) {
      const bool plane = row != col;
      copy_ub(store, o[1] * e, load, (ub_first + o[0]) * e, copy.element_bytes, plane ? n[at(row)] : 1,
              n[at(col)], plane ? to[at(row)] : 0, plane ? from[at(row)] : 0, from[at(col)], to[at(col)]);
    });
  }

  Transfer down;
  for (int d = 0; d < copy.rank; ++d)
    down.add(n[at(d)] + (d + 1 == copy.rank ? copy.pad : 0), copy.dst_strides[at(d)], stored[at(d)]);
  down.bursts(e, [&](std::int64_t gm, std::int64_t ub, const Burst& burst) {
    copy_out(dst, dst_element * e + gm, store, ub, burst);
  });
}

void Core::fill_tile(const TileCopy& copy, const TileCopy::Extents& n, const Gm& dst,
                     std::int64_t dst_element, const void* value, Buffer& store) {
  const std::int64_t e = copy.element_bytes;
  for (int d = 0; d < copy.rank; ++d)
    if (n[at(d)] <= 0) return;
  ATC_CHECK(copy.store_bytes(n) <= store.bytes, "tile fill beyond its UB buffer");
  const TileCopy::Reach to = TileCopy::reach(n, copy.dst_strides, copy.rank);
  check_gm(dst, (dst_element + to.low) * e, (to.high - to.low + 1) * e);
  if (values_ == Values::Fast)
    fill_strided(dst.data + dst_element * e, static_cast<const std::byte*>(value), copy.element_bytes,
                 copy.rank, n, copy.dst_strides);
  if (values_ != Values::Literal && !timing_) return;
  const Values mode = values_;
  if (mode == Values::Fast) values_ = Values::None;
  const Extents stored = copy.store_strides(n);
  fill(store, 0, copy.store_bytes(n) / e, copy.element_bytes, value);
  Transfer down;
  for (int d = 0; d < copy.rank; ++d) down.add(n[at(d)], copy.dst_strides[at(d)], stored[at(d)]);
  down.bursts(e, [&](std::int64_t gm, std::int64_t ub, const Burst& burst) {
    copy_out(dst, dst_element * e + gm, store, ub, burst);
  });
  values_ = mode;
}

}  // namespace atc::aicore
