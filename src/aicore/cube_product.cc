#include "aicore/cube_product.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "aicore/cube_tile.h"
#include "aicore/row_runs.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

// Rows that lie in the padding read these.
alignas(64) constexpr float kZeros[16] = {};

// Lanes of the reduction at a time: a panel of B with so many (16 KiB) stays in the host's L1 cache while all
// rows of A pass, and those in L2 until the next panel.
constexpr std::int64_t kChunkLanes = 256;

/// Kept from product to product, so that none of them allocates.
struct Scratch {
  RowRuns rows;
  std::vector<TileStep> steps;
  std::vector<const float*> first;  // of each row, where it begins
  std::vector<TileStep> joined;     // of one chunk, those that neither operand jumps between as one
  std::vector<TileArgs> calls;      // of one chunk, one a run
  std::vector<const float*> taps;   // of runs that leave the plane, step by step
  std::vector<TileStep> tap_steps;
};
thread_local Scratch thread_scratch;

/// The steps of the reduction: C0 block by C0 block, tap by tap.
void list_steps(const RowMap& map, std::vector<TileStep>& steps) {
  const int taps = map.taps();
  const int tap_lanes = map.tap_lanes == 0 ? 16 : map.tap_lanes;
  steps.clear();
  for (int k1 = 0; k1 < map.k1; ++k1)
    for (int t = 0; t < taps; ++t) {
      const std::size_t ti = static_cast<std::size_t>(t);
      TileStep& step = steps.emplace_back();
      step.a = k1 * map.k1_stride + map.tap_offset[ti];
      step.b = (k1 * map.b_k1_stride * 16 + map.b_tap[ti] * tap_lanes) * 16;
      step.k = k1 + 1 == map.k1 ? map.k_last : 16;
    }
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
        layout_(layout) {
    scratch_.rows.describe(map);
    list_steps(map, scratch_.steps);
    const std::size_t m = map.base.size();
    scratch_.first.resize(m);
    for (std::size_t r = 0; r < m; ++r) scratch_.first[r] = base_ + map.base[r];
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
    for (const TileStep& s : scratch_.steps) {
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

  // Panels [first, last). Steps go in chunks of whole C0 blocks, each over all panels and rows.
  void multiply(int first, int last, bool half) {
    if (first == last) return;
    const RowList& list = scratch_.rows.list(half);
    if (list.runs.size() == 1 && list.runs[0].groups == 1) return few_rows(list, first, last, half);
    const std::int64_t blocks = map_.k1, taps = map_.taps();
    const std::int64_t chunk = ceil_div(kChunkLanes, 16 * taps);
    for (std::int64_t k = 0; k < blocks; k += chunk)
      multiply_chunk(
          list,
          {static_cast<std::size_t>(k * taps), static_cast<std::size_t>(std::min(blocks, k + chunk) * taps)},
          k > 0, first, last, half);
  }

  struct Range {
    std::size_t begin, end;
  };

  // Weights that do not stay in the host's L2 cache from tile to tile come from afar: the next panel is
  // fetched while this one is used.
  static constexpr std::int64_t kFetchAhead = std::int64_t{256} << 10;

  void multiply_chunk(const RowList& list, Range steps, bool later, int first, int last, bool half) const {
    list_calls(list, steps, accumulate_ || later);
    const auto& kernels = cube_table().product;
    int groups = 0;
    for (const RowRun& run : list.runs) groups += run.groups;
    const TileStep &s0 = scratch_.steps[steps.begin], &s1 = scratch_.steps[steps.end - 1];
    const std::int64_t from = s0.b * b_bytes_, bytes = (s1.b - s0.b + s1.k * 16) * b_bytes_;
    const bool far = panels_ * b_panel_ * b_bytes_ > kFetchAhead;
    const int lines = far ? static_cast<int>(ceil_div(ceil_div(bytes, 64), groups)) : 0;
    for (int p = first; p < last; ++p) {
      const PanelPlace place = panel_place(layout_, map_.rows(), p, panels_);
      const std::byte* b = panel(p);
      float* c = c_ + place.start;
      const std::byte* next = b + b_panel_ * b_bytes_ + from;
      for (std::size_t i = 0; i < list.runs.size(); ++i) {
        const RowRun& run = list.runs[i];
        TileArgs& args = scratch_.calls[i];
        args.b = b;
        args.c = c + run.row0 * place.pitch;
        args.c_row_stride = place.pitch;
        args.next = next;
        args.next_lines = p + 1 < last ? lines : 0;
        next += std::int64_t{64} * lines * run.groups;
        const ProductKernels& of = kernels[run.inside ? 0 : 1][type_];
        const std::size_t rows = static_cast<std::size_t>(run.rows);
        (half ? of.half[rows] : of.tile[rows])(args);
      }
    }
  }

  // One group of rows: when there are very few, several panels at once.
  void few_rows(const RowList& list, int first, int last, bool half) const {
    const RowRun& run = list.runs[0];
    const ProductKernels& kernels = cube_table().product[run.inside ? 0 : 1][type_];
    const std::size_t rows = static_cast<std::size_t>(run.rows);
    list_calls(list, {0, scratch_.steps.size()}, accumulate_);
    TileArgs& args = scratch_.calls[0];
    const int wide = run.rows <= kWideRows && layout_ != AccLayout::Pairs ? kWidePanels[rows] : last + 1;
    for (int p = first; p < last;) {
      const PanelPlace place = panel_place(layout_, map_.rows(), p, panels_);
      args.b = panel(p);
      args.c = c_ + place.start;
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

  // Steps that begin where the one before ends, in A and in B, are one: taps of neighbours, and C0 blocks of
  // a matrix.
  void join_steps(Range range) const {
    scratch_.joined.clear();
    for (std::size_t s = range.begin; s < range.end; ++s) {
      const TileStep& step = scratch_.steps[s];
      if (!scratch_.joined.empty()) {
        TileStep& last = scratch_.joined.back();
        if (last.a + last.k == step.a && last.b + last.k * 16 == step.b) {
          last.k += step.k;
          continue;
        }
      }
      scratch_.joined.push_back(step);
    }
  }

  // The rows and steps of all runs; of those whose taps leave the plane with pointers for each step.
  void list_calls(const RowList& list, Range steps, bool accumulate) const {
    join_steps(steps);
    const std::size_t taps = static_cast<std::size_t>(map_.taps());
    const std::size_t blocks = (steps.end - steps.begin) / taps;
    // A kernel looks at its first pointers even when there is no step.
    scratch_.taps.resize(std::max(scratch_.taps.size(), blocks * list.first.size() + kHalfRows));
    scratch_.tap_steps.resize(std::max(scratch_.tap_steps.size(), blocks * list.kept.size()));
    scratch_.calls.resize(std::max(scratch_.calls.size(), list.runs.size()));
    const float** to = scratch_.taps.data();
    TileStep* step = scratch_.tap_steps.data();
    for (std::size_t i = 0; i < list.runs.size(); ++i) {
      const RowRun& run = list.runs[i];
      TileArgs& args = scratch_.calls[i];
      args.accumulate = accumulate;
      args.groups = run.groups;
      if (run.inside) {
        args.rows = scratch_.first.data() + run.row0;
        args.steps = scratch_.joined.data();
        args.count = static_cast<std::int64_t>(scratch_.joined.size());
        continue;
      }
      args.rows = to;
      args.steps = step;
      args.count = static_cast<std::int64_t>(blocks * run.kept);
      const std::int64_t* from = list.first.data() + run.first0;
      const std::size_t pointers = run.kept * static_cast<std::size_t>(run.rows);
      for (std::size_t s = steps.begin; s < steps.end; s += taps) {
        const float* base = base_ + static_cast<std::ptrdiff_t>(s / taps) * map_.k1_stride;
        for (std::size_t n = 0; n < pointers; ++n)
          *to++ = from[n] == RowList::kOutside ? kZeros : base + from[n];
        for (std::size_t n = 0; n < run.kept; ++n)
          *step++ = scratch_.steps[s + static_cast<std::size_t>(list.kept[run.kept0 + n])];
      }
    }
  }

  Scratch& scratch_ = thread_scratch;  // looked up once: a thread_local with a constructor costs each time
  float* c_;
  const float* base_;
  const RowMap& map_;
  const std::byte* b_;
  std::int64_t b_bytes_, b_panel_;
  std::size_t type_;
  int panels_;
  bool accumulate_;
  AccLayout layout_;
};

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
