#include "aicore/cube_product.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "aicore/cube_tile.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

// Rows that lie in the padding read these.
alignas(64) constexpr float kZeros[16] = {};

// Lanes of the reduction at a time: of so many, six rows of A (6 KiB) stay in the host's L1 cache while the
// panels of B pass, and those (16 KiB each) in L2 until the next rows.
constexpr std::int64_t kChunkLanes = 256;

/// Rows that one call of a micro-kernel takes.
struct RowGroup {
  int row0 = 0, count = 0;
  bool inside = true;  // no tap of theirs leaves the plane
  // Otherwise: the taps that lie in it for one of the rows at least, in Scratch::kept, and where each row
  // reads them of the first C0 block, in Scratch::first.
  std::size_t kept0 = 0, kept = 0, first0 = 0;
};

/// Kept from product to product, so that none of them allocates.
struct Scratch {
  std::vector<std::uint8_t> inside;  // by row
  std::vector<RowGroup> groups;
  std::vector<TileStep> steps;
  std::vector<const float*> rows;  // of the whole tile
  std::vector<int> kept;
  std::vector<const float*> first;
  std::vector<const float*> taps;  // of one group and chunk, step by step
  std::vector<TileStep> tap_steps;
  std::vector<const std::int16_t*> int8_taps;
  std::vector<std::uint8_t> pairs;
  std::vector<std::int64_t> b_offset;
};
thread_local Scratch scratch;

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

// For each row whether all its taps lie in the plane. False when some row has one that does not.
bool mark_inside(const RowMap& map, const Reach& reach, std::vector<std::uint8_t>& inside) {
  const std::size_t m = map.base.size();
  inside.assign(m, 1);
  if (map.row_h.empty()) return true;
  const int *h = map.row_h.data(), *w = map.row_w.data();
  const int top = -reach.top, bottom = map.height - reach.bottom, left = -reach.left,
            right = map.width - reach.right;
  std::uint8_t all = 1;
  for (std::size_t r = 0; r < m; ++r) {
    inside[r] = static_cast<std::uint8_t>((h[r] >= top) & (h[r] < bottom) & (w[r] >= left) & (w[r] < right));
    all &= inside[r];
  }
  return all != 0;
}

// Where `count` rows from `row0` on read each step's lanes (step-major): of the tile at `base`, or of
// `outside` where a tap leaves the plane. It does so for all C0 blocks alike, so only the first asks.
template <class T>
void place_rows(const RowMap& map, bool all_inside, const T* base, const T* outside, int row0, int count,
                const T** out) {
  const std::int64_t* row = map.base.data() + row0;
  const T** p = out;
  const int taps = map.taps();
  if (all_inside) {
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

/// The steps of the reduction, C0 block by C0 block. `joined`: neither operand jumps, so that blocks are one
/// step.
void list_steps(const RowMap& map, bool joined, std::vector<TileStep>& steps) {
  const int taps = map.taps();
  const int tap_lanes = map.tap_lanes == 0 ? 16 : map.tap_lanes;
  steps.clear();
  for (int k1 = 0; k1 < map.k1; ++k1) {
    const std::int64_t lanes = k1 + 1 == map.k1 ? map.k_last : 16;
    for (int t = 0; t < taps; ++t) {
      const std::size_t ti = static_cast<std::size_t>(t);
      if (joined && !steps.empty() && steps.back().k < kChunkLanes) {
        steps.back().k += lanes;
        continue;
      }
      steps.push_back({k1 * map.k1_stride + map.tap_offset[ti],
                       (k1 * map.b_k1_stride * 16 + map.b_tap[ti] * tap_lanes) * 16, lanes});
    }
  }
}

/// Even groups: 49 rows are 4 groups of 6 and 5 of 5, not 8 of 6 and a slow single row.
template <class F>
void for_row_groups(int rows, int most, F f) {
  const int groups = static_cast<int>(ceil_div(rows, most));
  for (int g = 0, first = 0; g < groups; ++g) {
    const int end = static_cast<int>(std::int64_t{rows} * (g + 1) / groups);
    f(first, end - first);
    first = end;
  }
}

bool group_inside(bool all_inside, int row0, int count) {
  const auto first = scratch.inside.begin() + row0;
  return all_inside || std::all_of(first, first + count, [](std::uint8_t inside) { return inside != 0; });
}

std::size_t type_index(DType dtype) { return dtype == DType::F32 ? 0 : dtype == DType::F16 ? 1 : 2; }

/// One product of an f32 A.
class Product {
 public:
  Product(std::byte* l0c, const Core::CubeTile& a, const RowMap& map, const Core::CubeTile& b, DType dtype,
          int panels, bool accumulate, AccLayout layout)
      : c_(reinterpret_cast<float*>(l0c)),
        base_(reinterpret_cast<const float*>(a.data)),
        map_(map),
        b_(b.data),
        b_bytes_(bit_width(dtype) / 8),
        b_panel_(b.panel_stride),
        type_(type_index(dtype)),
        panels_(panels),
        accumulate_(accumulate),
        layout_(layout),
        all_inside_(mark_inside(map, reach_of(map), scratch.inside)) {
    joined_ = all_inside_ && map.taps() == 1 && map.k1_stride == 16 && map.b_k1_stride == 1;
    list_steps(map, joined_, scratch.steps);
    const std::size_t m = map.base.size();
    scratch.rows.resize(m);
    for (std::size_t r = 0; r < m; ++r) scratch.rows[r] = base_ + map.base[r];
  }

  void run() {
    const bool half = map_.rows() > kHalfRows && upper_half_is_zero(panels_ - 1);
    multiply(0, half ? panels_ - 1 : panels_, false);
    if (half) multiply(panels_ - 1, panels_, true);
  }

 private:
  const std::byte* panel(int p) const { return b_ + p * b_panel_ * b_bytes_; }

  // Columns from 8 on of a panel are zero: they are padding when the operand has few columns there.
  bool upper_half_is_zero(int p) const {
    for (const TileStep& s : scratch.steps) {
      const std::byte* row = panel(p) + (s.b + 8) * b_bytes_;
      for (std::int64_t k = 0; k < s.k; ++k, row += 16 * b_bytes_) {
        std::array<std::uint64_t, 4> words{};
        if (b_bytes_ == 4)
          std::memcpy(words.data(), row, 32);
        else
          std::memcpy(words.data(), row, 16);
        if ((words[0] | words[1] | words[2] | words[3]) != 0) return false;
      }
    }
    return true;
  }

  // Panels [first, last). Steps go in chunks of whole C0 blocks, each over all rows and panels.
  void multiply(int first, int last, bool half) {
    if (first == last) return;
    scratch.groups.clear();
    scratch.kept.clear();
    scratch.first.clear();
    for_row_groups(map_.rows(), half ? kHalfRows : kTileRows, [&](int row0, int count) {
      RowGroup group{row0, count, group_inside(all_inside_, row0, count)};
      if (!group.inside) find_taps(group);
      scratch.groups.push_back(group);
    });
    const std::int64_t blocks = map_.k1, taps = map_.taps();
    if (scratch.groups.size() == 1) {
      few_rows(scratch.groups[0], first, last, half);
    } else if (joined_) {
      for (std::size_t s = 0; s < scratch.steps.size(); ++s)
        for (const RowGroup& g : scratch.groups) multiply_group(g, {s, s + 1}, s > 0, first, last, half);
    } else {
      const std::int64_t chunk = ceil_div(kChunkLanes, 16 * taps);
      for (std::int64_t k = 0; k < blocks; k += chunk) {
        const Range steps{static_cast<std::size_t>(k * taps),
                          static_cast<std::size_t>(std::min(blocks, k + chunk) * taps)};
        for (const RowGroup& g : scratch.groups) multiply_group(g, steps, k > 0, first, last, half);
      }
    }
  }

  struct Range {
    std::size_t begin, end;
  };

  void multiply_group(const RowGroup& g, Range steps, bool later, int first, int last, bool half) const {
    const ProductKernels& kernels = cube_table().product[g.inside ? 0 : 1][type_];
    const std::size_t rows = static_cast<std::size_t>(g.count);
    const TileKernel kernel = half ? kernels.half[rows] : kernels.tile[rows];
    TileArgs args = args_of(g, steps);
    args.accumulate = accumulate_ || later;
    for (int p = first; p < last; ++p) {
      const PanelPlace place = panel_place(layout_, map_.rows(), p, panels_);
      args.b = panel(p);
      args.c_row_stride = place.pitch;
      args.c = c_ + place.start + g.row0 * place.pitch;
      kernel(args);
    }
  }

  // One group of rows: when there are very few, several panels at once.
  void few_rows(const RowGroup& g, int first, int last, bool half) const {
    const ProductKernels& kernels = cube_table().product[g.inside ? 0 : 1][type_];
    const std::size_t rows = static_cast<std::size_t>(g.count);
    TileArgs args = args_of(g, {0, scratch.steps.size()});
    args.accumulate = accumulate_;
    const int wide = g.count <= kWideRows && layout_ != AccLayout::Pairs ? kWidePanels[rows] : last + 1;
    for (int p = first; p < last;) {
      const PanelPlace place = panel_place(layout_, map_.rows(), p, panels_);
      args.b = panel(p);
      args.c = c_ + place.start + g.row0 * place.pitch;
      args.c_row_stride = place.pitch;
      if (p + wide <= last) {
        kernels.wide[rows](args, b_panel_, panel_place(layout_, map_.rows(), 1, panels_).start);
        p += wide;
      } else {
        (half ? kernels.half[rows] : kernels.tile[rows])(args);
        ++p;
      }
    }
  }

  // Taps that lie in the padding for all rows of a group add nothing.
  void find_taps(RowGroup& g) const {
    const std::size_t row0 = static_cast<std::size_t>(g.row0);
    const std::int64_t* base = map_.base.data() + row0;
    const int *row_h = map_.row_h.data() + row0, *row_w = map_.row_w.data() + row0;
    const unsigned height = static_cast<unsigned>(map_.height), width = static_cast<unsigned>(map_.width);
    g.kept0 = scratch.kept.size();
    g.first0 = scratch.first.size();
    for (int t = 0; t < map_.taps(); ++t) {
      const std::size_t ti = static_cast<std::size_t>(t);
      const float* tap = base_ + map_.tap_offset[ti];
      const int dh = map_.tap_h[ti], dw = map_.tap_w[ti];
      std::array<const float*, kHalfRows> rows{};
      bool any = false;
      for (int r = 0; r < g.count; ++r) {
        const bool inside =
            static_cast<unsigned>(row_h[r] + dh) < height && static_cast<unsigned>(row_w[r] + dw) < width;
        rows[static_cast<std::size_t>(r)] = inside ? tap + base[r] : kZeros;
        any = any || inside;
      }
      if (!any) continue;
      scratch.kept.push_back(t);
      scratch.first.insert(scratch.first.end(), rows.begin(), rows.begin() + g.count);
      ++g.kept;
    }
  }

  // Rows and steps of a group; of one whose taps leave the plane with pointers for each step.
  TileArgs args_of(const RowGroup& g, Range steps) const {
    TileArgs args;
    if (g.inside) {
      args.rows = scratch.rows.data() + g.row0;
      args.steps = scratch.steps.data() + steps.begin;
      args.count = static_cast<std::int64_t>(steps.end - steps.begin);
      return args;
    }
    const std::size_t taps = static_cast<std::size_t>(map_.taps());
    const std::size_t pointers = g.kept * static_cast<std::size_t>(g.count);
    const std::size_t blocks = (steps.end - steps.begin) / taps;
    // A kernel looks at its first pointers even when there is no step.
    scratch.taps.resize(std::max({scratch.taps.size(), blocks * pointers, std::size_t{kHalfRows}}));
    scratch.tap_steps.resize(std::max(scratch.tap_steps.size(), blocks * g.kept));
    const float* const* from = scratch.first.data() + g.first0;
    const float** to = scratch.taps.data();
    TileStep* step = scratch.tap_steps.data();
    for (std::size_t s = steps.begin; s < steps.end; s += taps) {
      const std::ptrdiff_t shift = static_cast<std::ptrdiff_t>(s / taps) * map_.k1_stride;
      for (std::size_t i = 0; i < pointers; ++i) *to++ = from[i] == kZeros ? kZeros : from[i] + shift;
      for (std::size_t i = 0; i < g.kept; ++i)
        *step++ = scratch.steps[s + static_cast<std::size_t>(scratch.kept[g.kept0 + i])];
    }
    args.rows = scratch.taps.data();
    args.steps = scratch.tap_steps.data();
    args.count = static_cast<std::int64_t>(blocks * g.kept);
    return args;
  }

  float* c_;
  const float* base_;
  const RowMap& map_;
  const std::byte* b_;
  std::int64_t b_bytes_, b_panel_;
  std::size_t type_;
  int panels_;
  bool accumulate_;
  AccLayout layout_;
  bool all_inside_;
  bool joined_ = false;
};

void int8_product(std::byte* l0c, const Core::CubeTile& a, const RowMap& map, const Core::CubeTile& b,
                  int panels, bool accumulate, AccLayout layout) {
  constexpr int kLanes = cube_lanes(DType::I8);
  const int taps = map.taps(), m = map.rows();
  const int tap_lanes = map.tap_lanes == 0 ? kLanes : map.tap_lanes;
  const std::size_t steps = static_cast<std::size_t>(map.k1) * static_cast<std::size_t>(taps);
  scratch.pairs.resize(steps);
  scratch.b_offset.resize(steps);
  scratch.int8_taps.resize(steps * kTileRows);
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
  args.a = scratch.int8_taps.data();
  args.pairs = scratch.pairs.data();
  args.b_offset = scratch.b_offset.data();
  args.steps = static_cast<int>(steps);
  args.accumulate = accumulate;

  const bool all_inside = mark_inside(map, reach_of(map), scratch.inside);
  for_row_groups(m, kTileRows, [&](int r0, int count) {
    place_rows(map, group_inside(all_inside, r0, count), base, padding.data(), r0, count,
               scratch.int8_taps.data());
    for (int panel = 0; panel < panels; ++panel) {
      const PanelPlace place = panel_place(layout, m, panel, panels);
      args.b = reinterpret_cast<const std::int8_t*>(b.data) + panel * b.panel_stride;
      args.c = c + place.start + r0 * place.pitch;
      args.c_row_stride = place.pitch;
      table.int8_tile[count](args);
    }
  });
}

}  // namespace

void fast_product(std::byte* l0c, const Core::CubeTile& a, const RowMap& map, const Core::CubeTile& b,
                  DType dtype, int panels, bool accumulate, AccLayout layout) {
  if (map.rows() == 0 || panels == 0) return;
  if (dtype == DType::I8)
    int8_product(l0c, a, map, b, panels, accumulate, layout);
  else
    Product(l0c, a, map, b, dtype, panels, accumulate, layout).run();
}

}  // namespace atc::aicore
