#include <array>

#include "aicore/cube_product.h"
#include "aicore/cube_tile.h"
#include "aicore/row_runs.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

/// Kept from product to product, so that none of them allocates.
struct Scratch {
  RowRuns rows;
  std::vector<const std::int16_t*> taps;
  std::vector<std::uint8_t> pairs;
  std::vector<std::int64_t> b_offset;
};
thread_local Scratch thread_scratch;

// Where `count` rows from `row0` on read each step's lanes (step-major): of the tile at `base`, or of
// `outside` where a tap leaves the plane. It does so for all C0 blocks alike, so only the first asks.
void place_rows(const RowMap& map, bool all_inside, const std::int16_t* base, const std::int16_t* outside,
                int row0, int count, const std::int16_t** out) {
  const std::int64_t* row = map.base.data() + row0;
  const std::int16_t** p = out;
  const int taps = map.taps();
  if (all_inside) {
    for (int k1 = 0; k1 < map.k1; ++k1)
      for (int t = 0; t < taps; ++t) {
        const std::int16_t* tap = base + (k1 * map.k1_stride + map.tap_offset[static_cast<std::size_t>(t)]);
        for (int r = 0; r < count; ++r) *p++ = tap + row[r];
      }
    return;
  }
  const int *row_h = map.row_h.data() + row0, *row_w = map.row_w.data() + row0;
  const unsigned height = static_cast<unsigned>(map.height), width = static_cast<unsigned>(map.width);
  for (int t = 0; t < taps; ++t) {
    const std::size_t ti = static_cast<std::size_t>(t);
    const std::int16_t* tap = base + map.tap_offset[ti];
    const int dh = map.tap_h[ti], dw = map.tap_w[ti];
    for (int r = 0; r < count; ++r) {
      const bool inside =
          static_cast<unsigned>(row_h[r] + dh) < height && static_cast<unsigned>(row_w[r] + dw) < width;
      *p++ = inside ? tap + row[r] : outside;
    }
  }
  const std::ptrdiff_t block = std::ptrdiff_t{taps} * count;
  for (const std::int16_t** const end = out + block * map.k1; p < end; ++p)
    *p = p[-block] == outside ? outside : p[-block] + map.k1_stride;
}

/// Even groups, as RowRuns::list has them.
template <class F>
void for_row_groups(int rows, int most, F f) {
  const int groups = static_cast<int>(ceil_div(rows, most));
  for (int g = 0, first = 0; g < groups; ++g) {
    const int end = static_cast<int>(std::int64_t{rows} * (g + 1) / groups);
    f(first, end - first);
    first = end;
  }
}

}  // namespace

void int8_product(std::byte* l0c, const Core::CubeTile& a, const RowMap& map, const Core::CubeTile& b,
                  int panels, bool accumulate, AccLayout layout) {
  Scratch& scratch = thread_scratch;
  constexpr int kLanes = cube_lanes(DType::I8);
  const int taps = map.taps(), m = map.rows();
  const int tap_lanes = map.tap_lanes == 0 ? kLanes : map.tap_lanes;
  const std::size_t steps = static_cast<std::size_t>(map.k1) * static_cast<std::size_t>(taps);
  scratch.pairs.resize(steps);
  scratch.b_offset.resize(steps);
  scratch.taps.resize(steps * kTileRows);
  for (std::size_t s = 0; s < steps; ++s) {
    const int k1 = static_cast<int>(s) / taps;
    const std::int64_t tap = map.b_tap[s % static_cast<std::size_t>(taps)];
    // Two of the int8 lanes at a time.
    scratch.pairs[s] = static_cast<std::uint8_t>(((k1 + 1 == map.k1 ? map.k_last : kLanes) + 1) / 2);
    scratch.b_offset[s] = (k1 * map.b_k1_stride * kLanes + tap * tap_lanes) * 16;
  }
  std::array<std::int16_t, kLanes> padding;
  padding.fill(static_cast<std::int16_t>(map.pad));

  const std::int16_t* base = reinterpret_cast<const std::int16_t*>(a.data);
  std::int32_t* c = reinterpret_cast<std::int32_t*>(l0c);
  const CubeTable& table = cube_table();
  Int8TileArgs args;
  args.a = scratch.taps.data();
  args.pairs = scratch.pairs.data();
  args.b_offset = scratch.b_offset.data();
  args.steps = static_cast<int>(steps);
  args.accumulate = accumulate;

  scratch.rows.describe(map);
  for_row_groups(m, kTileRows, [&](int r0, int count) {
    place_rows(map, scratch.rows.inside(r0, count), base, padding.data(), r0, count, scratch.taps.data());
    for (int panel = 0; panel < panels; ++panel) {
      const PanelPlace place = panel_place(layout, m, panel, panels);
      args.b = reinterpret_cast<const std::int8_t*>(b.data) + panel * b.panel_stride;
      args.c = c + place.start + r0 * place.pitch;
      args.c_row_stride = place.pitch;
      table.int8_tile[count](args);
    }
  });
}

}  // namespace atc::aicore
