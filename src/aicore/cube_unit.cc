#include <algorithm>
#include <array>
#include <cstring>

#include "aicore/core.h"
#include "aicore/cube_tile.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

bool host_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

// Rows that lie in the padding read these.
alignas(64) constexpr float kZeros[16] = {};

// Where Fast mode keeps a panel of L0C: its first element, and elements from one row to the next.
struct PanelPlace {
  std::int64_t start = 0;
  std::int64_t pitch = 16;
};
PanelPlace panel_place(AccLayout layout, int m, int panel, int panels) {
  switch (layout) {
    case AccLayout::Panels:
      return {std::int64_t{panel} * m * 16, 16};
    case AccLayout::Pairs: {
      const bool single = panel % 2 == 0 && panel + 1 == panels;
      return {std::int64_t{panel / 2} * m * 32 + panel % 2 * 16, single ? 16 : 32};
    }
    case AccLayout::Rows:
      return {std::int64_t{panel} * 16, std::int64_t{panels} * 16};
  }
  return {};
}

// How far the taps of a map reach from a row's first one.
struct Reach {
  int top = 0, bottom = 0, left = 0, right = 0;
};
Reach reach_of(const RowMap& map) {
  if (map.row_h.empty()) return {};
  const auto [top, bottom] = std::minmax_element(map.tap_h.begin(), map.tap_h.end());
  const auto [left, right] = std::minmax_element(map.tap_w.begin(), map.tap_w.end());
  return {*top, *bottom, *left, *right};
}

// True when no tap of `count` rows from `row0` on leaves the plane.
bool all_inside(const RowMap& map, const Reach& reach, int row0, int count) {
  if (map.row_h.empty()) return true;
  const int *h = map.row_h.data() + row0, *w = map.row_w.data() + row0;
  bool inside = true;
  for (int r = 0; r < count; ++r)
    inside = inside && h[r] + reach.top >= 0 && h[r] + reach.bottom < map.height && w[r] + reach.left >= 0 &&
             w[r] + reach.right < map.width;
  return inside;
}

// Where `count` rows from `row0` on read each step's lanes (step-major): of the tile at `base`, or of
// `outside` where a tap leaves the plane. It does so for all C0 blocks alike, so only the first asks.
template <class T>
void place_rows(const RowMap& map, const Reach& reach, const T* base, const T* outside, int row0, int count,
                const T** out) {
  const std::int64_t* row = map.base.data() + row0;
  const T** p = out;
  const int taps = map.taps();
  if (all_inside(map, reach, row0, count)) {
    for (int k1 = 0; k1 < map.k1; ++k1)
      for (int t = 0; t < taps; ++t) {
        const T* tap = base + (k1 * map.k1_stride + map.tap_offset[static_cast<std::size_t>(t)]);
        for (int r = 0; r < count; ++r) *p++ = tap + row[r];
      }
    return;
  }
  const int *row_h = map.row_h.data() + row0, *row_w = map.row_w.data() + row0;
  const unsigned height = static_cast<unsigned>(map.height), width = static_cast<unsigned>(map.width);
  for (int t = 0; t < taps; ++t) {
    const std::size_t ti = static_cast<std::size_t>(t);
    const T* tap = base + map.tap_offset[ti];
    const int dh = map.tap_h[ti], dw = map.tap_w[ti];
    for (int r = 0; r < count; ++r) {
      const bool inside =
          static_cast<unsigned>(row_h[r] + dh) < height && static_cast<unsigned>(row_w[r] + dw) < width;
      *p++ = inside ? tap + row[r] : outside;
    }
  }
  const std::ptrdiff_t block = std::ptrdiff_t{taps} * count;
  for (const T** const end = out + block * map.k1; p < end; ++p)
    *p = p[-block] == outside ? outside : p[-block] + map.k1_stride;
}

/// For each step of the reduction, k1 by k1: how much of the last dimension a tile takes, `k_of(lanes)`, and
/// where its fractal of B begins.
template <class F>
void list_steps(const RowMap& map, int lanes, F k_of, std::vector<std::uint8_t>& k,
                std::vector<std::int64_t>& b_offset) {
  const int taps = map.taps();
  k.resize(static_cast<std::size_t>(map.k1) * static_cast<std::size_t>(taps));
  b_offset.resize(k.size());
  std::size_t s = 0;
  for (int k1 = 0; k1 < map.k1; ++k1)
    for (int t = 0; t < taps; ++t, ++s) {
      k[s] = static_cast<std::uint8_t>(k_of(k1 + 1 == map.k1 ? map.k_last : lanes));
      b_offset[s] = (k1 * map.b_k1_stride + map.b_tap[static_cast<std::size_t>(t)]) * lanes * 16;
    }
}

/// Even groups: 49 rows are 4 groups of 6 and 5 of 5, not 8 of 6 and a slow single row.
template <class F>
void for_row_groups(int rows, F f) {
  const int groups = static_cast<int>(ceil_div(rows, kTileRows));
  for (int g = 0, first = 0; g < groups; ++g) {
    const int end = static_cast<int>(std::int64_t{rows} * (g + 1) / groups);
    f(first, end - first);
    first = end;
  }
}

}  // namespace

const CubeTable& cube_table() {
  static const CubeTable& table = host_has_avx2() ? cube_table_avx2() : cube_table_generic();
  return table;
}

void Core::l1_product(Buffer& l0c, CubeBuffers& l0, const CubeTile& a, const RowMap& rows, const CubeTile& b,
                      DType dtype, int panels, int k_slice, bool accumulate, AccLayout layout) {
  const std::int64_t m16 = round_up(rows.rows(), 16);
  ATC_CHECK(m16 * panels * 16 * 4 <= l0c.bytes, "L0C tile of " + std::to_string(m16 * panels * 64) +
                                                    " bytes beyond its buffer of " +
                                                    std::to_string(l0c.bytes));
  if (timing_ || values_ == Values::Literal)
    expand_product(l0c, l0, a, rows, b, dtype, panels, k_slice, accumulate);
  if (values_ != Values::Fast) return;
  if (dtype == DType::I8)
    fast_product_int8(l0c, a, rows, b, panels, accumulate, layout);
  else
    fast_product(l0c, a, rows, b, panels, accumulate, layout);
  l0c.data = l0c.own;
}

void Core::fast_product(Buffer& l0c, const CubeTile& a, const RowMap& map, const CubeTile& b, int panels,
                        bool accumulate, AccLayout layout) {
  const int steps = map.k1 * map.taps();
  const int m = map.rows();
  list_steps(
      map, 16, [](int lanes) { return lanes; }, step_k_, step_b_);
  row_pointers_.resize(static_cast<std::size_t>(steps) * kTileRows);

  const float* base = reinterpret_cast<const float*>(a.data);
  float* c = reinterpret_cast<float*>(l0c.own);
  const CubeTable& table = cube_table();

  TileArgs args;
  args.a = row_pointers_.data();
  args.k = step_k_.data();
  args.b_offset = step_b_.data();
  args.steps = steps;
  args.accumulate = accumulate;

  const Reach reach = reach_of(map);
  for_row_groups(m, [&](int r0, int count) {
    place_rows(map, reach, base, kZeros, r0, count, row_pointers_.data());
    int panel = 0;
    if (count <= 2 && layout != AccLayout::Pairs) {
      const int step = kWidePanels[count];
      const std::int64_t c_panel =
          panel_place(layout, m, 1, panels).start - panel_place(layout, m, 0, panels).start;
      for (; panel + step <= panels; panel += step) {
        const PanelPlace place = panel_place(layout, m, panel, panels);
        args.b = reinterpret_cast<const float*>(b.data) + panel * b.panel_stride;
        args.c = c + place.start + r0 * place.pitch;
        args.c_row_stride = place.pitch;
        table.wide[count](args, b.panel_stride, c_panel);
      }
    }
    for (; panel < panels; ++panel) {
      const PanelPlace place = panel_place(layout, m, panel, panels);
      args.b = reinterpret_cast<const float*>(b.data) + panel * b.panel_stride;
      args.c = c + place.start + r0 * place.pitch;
      args.c_row_stride = place.pitch;
      table.tile[count](args);
    }
  });
}

void Core::fast_product_int8(Buffer& l0c, const CubeTile& a, const RowMap& map, const CubeTile& b, int panels,
                             bool accumulate, AccLayout layout) {
  constexpr int kLanes = cube_lanes(DType::I8);
  const int steps = map.k1 * map.taps();
  const int m = map.rows();
  // Two of the int8 lanes at a time.
  list_steps(
      map, kLanes, [](int lanes) { return (lanes + 1) / 2; }, step_k_, step_b_);
  int8_row_pointers_.resize(static_cast<std::size_t>(steps) * kTileRows);
  std::array<std::int16_t, kLanes> padding;
  padding.fill(static_cast<std::int16_t>(map.pad));

  const std::int16_t* base = reinterpret_cast<const std::int16_t*>(a.data);
  std::int32_t* c = reinterpret_cast<std::int32_t*>(l0c.own);
  const CubeTable& table = cube_table();
  Int8TileArgs args;
  args.a = int8_row_pointers_.data();
  args.pairs = step_k_.data();
  args.b_offset = step_b_.data();
  args.steps = steps;
  args.accumulate = accumulate;

  const Reach reach = reach_of(map);
  for_row_groups(m, [&](int r0, int count) {
    place_rows(map, reach, base, padding.data(), r0, count, int8_row_pointers_.data());
    for (int panel = 0; panel < panels; ++panel) {
      const PanelPlace place = panel_place(layout, m, panel, panels);
      args.b = reinterpret_cast<const std::int8_t*>(b.data) + panel * b.panel_stride;
      args.c = c + place.start + r0 * place.pitch;
      args.c_row_stride = place.pitch;
      table.int8_tile[count](args);
    }
  });
}

void Core::fixpipe(Buffer& ub, Buffer& l0c, int m, int row0, int rows, int panel, int panels,
                   AccLayout layout) {
  const PanelPlace place = panel_place(layout, m, panel, panels);
  const std::int64_t width = place.pitch;
  ATC_CHECK(width == 16 || layout == AccLayout::Rows || panel % 2 == 0, "Fixpipe of half a pair");
  const std::int64_t bytes = rows * width * 4;
  ATC_CHECK(bytes <= ub.bytes, "Fixpipe of " + std::to_string(bytes) + " bytes beyond its UB buffer of " +
                                   std::to_string(ub.bytes));
  if (values_ == Values::Fast) {
    ub.data = l0c.own + (place.start + row0 * width) * 4;
    ub.pending = nullptr;
  } else if (values_ == Values::Literal) {
    ub.data = ub.own;
    const float* src = reinterpret_cast<const float*>(l0c.own);
    float* dst = reinterpret_cast<float*>(ub.own);
    const std::int64_t m16 = round_up(m, 16);
    const int first = layout == AccLayout::Rows ? 0 : panel, last = first + static_cast<int>(width / 16);
    for (int p = first; p < last; ++p)
      for (int r = 0; r < rows; ++r)
        std::memcpy(dst + r * width + std::int64_t{p - first} * 16, src + (p * m16 + row0 + r) * 16, 64);
  }
  if (timing_) {
    issue(chip_.fixpipe ? Pipe::FIX : Pipe::V, 8 + ceil_div(bytes, chip_.l0c_out), "Fixpipe", bytes, {&l0c},
          {&ub});
    // Split cores: the vector core fetches the tile through L2.
    if (chip_.split)
      issue(Pipe::MTE2, 8 + ceil_div(bytes, std::int64_t{2} * chip_.l2_read), "DataCopy", bytes, {}, {&ub});
  }
}

}  // namespace atc::aicore
