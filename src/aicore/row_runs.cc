#include "aicore/row_runs.h"

#include <algorithm>

#include "atc/base/math.h"

namespace atc::aicore {
namespace {

bool same_rows(const RowMap& a, const RowMap& b) {
  return a.height == b.height && a.width == b.width && a.base == b.base && a.row_h == b.row_h &&
         a.row_w == b.row_w && a.tap_offset == b.tap_offset && a.tap_h == b.tap_h && a.tap_w == b.tap_w;
}

struct Extent {
  int least = 0, most = 0;
};
// By hand: std::minmax_element is not vectorised.
Extent extent_of(const std::pmr::vector<int>& list) {
  Extent e{list[0], list[0]};
  for (const int x : list) {
    e.least = std::min(e.least, x);
    e.most = std::max(e.most, x);
  }
  return e;
}

}  // namespace

void RowRuns::describe(const RowMap& map) {
  if (same_rows(map, map_)) return;
  map_ = map;
  listed_ = {};
  mark_inside();
}

void RowRuns::mark_inside() {
  all_inside_ = true;
  if (map_.row_h.empty() || map_.tap_h.empty()) return;
  const Extent h = extent_of(map_.row_h), w = extent_of(map_.row_w), tap_h = extent_of(map_.tap_h),
               tap_w = extent_of(map_.tap_w);
  if (h.least + tap_h.least >= 0 && h.most + tap_h.most < map_.height && w.least + tap_w.least >= 0 &&
      w.most + tap_w.most < map_.width)
    return;
  all_inside_ = false;
  const int top = -tap_h.least, bottom = map_.height - tap_h.most, left = -tap_w.least,
            right = map_.width - tap_w.most;
  const std::size_t m = map_.base.size();
  inside_.resize(m);
  for (std::size_t r = 0; r < m; ++r) {
    const int y = map_.row_h[r], x = map_.row_w[r];
    inside_[r] = static_cast<std::uint8_t>((y >= top) & (y < bottom) & (x >= left) & (x < right));
  }
}

bool RowRuns::inside(int row0, int count) const {
  if (all_inside_) return true;
  const auto first = inside_.begin() + row0;
  return std::all_of(first, first + count, [](std::uint8_t row) { return row != 0; });
}

const RowList& RowRuns::list(bool half) {
  RowList& list = lists_[half];
  if (listed_[half]) return list;
  listed_[half] = true;
  const int rows = map_.rows(), groups = static_cast<int>(ceil_div(rows, half ? kHalfRows : kTileRows));
  const int size = rows / groups, larger = rows % groups;
  list.runs.clear();
  list.kept.clear();
  list.first.clear();
  add_runs(list, 0, size + 1, larger);
  add_runs(list, larger * (size + 1), size, groups - larger);
  return list;
}

void RowRuns::add_runs(RowList& list, int row0, int rows, int groups) const {
  for (int g = 0; g < groups; row0 += rows) {
    RowRun& run = list.runs.emplace_back();
    run.row0 = row0;
    run.rows = rows;
    run.inside = inside(row0, rows);
    ++g;
    if (!run.inside) {
      find_taps(list, run);
      continue;
    }
    if (all_inside_) {
      run.groups = groups;
      return;
    }
    for (; g < groups && inside(row0 + rows, rows); ++g, row0 += rows) ++run.groups;
  }
}

// Taps that lie in the padding for all rows of a run add nothing.
void RowRuns::find_taps(RowList& list, RowRun& run) const {
  const std::size_t row0 = static_cast<std::size_t>(run.row0), count = static_cast<std::size_t>(run.rows);
  const unsigned height = static_cast<unsigned>(map_.height), width = static_cast<unsigned>(map_.width);
  run.kept0 = list.kept.size();
  run.first0 = list.first.size();
  for (int t = 0; t < map_.taps(); ++t) {
    const std::size_t ti = static_cast<std::size_t>(t);
    std::array<std::int64_t, kHalfRows> rows{};
    bool any = false;
    for (std::size_t r = 0; r < count; ++r) {
      const bool inside = static_cast<unsigned>(map_.row_h[row0 + r] + map_.tap_h[ti]) < height &&
                          static_cast<unsigned>(map_.row_w[row0 + r] + map_.tap_w[ti]) < width;
      rows[r] = inside ? map_.tap_offset[ti] + map_.base[row0 + r] : RowList::kOutside;
      any = any || inside;
    }
    if (!any) continue;
    list.kept.push_back(t);
    list.first.insert(list.first.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count));
    ++run.kept;
  }
}

}  // namespace atc::aicore
