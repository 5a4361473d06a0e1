#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "aicore/core.h"
#include "aicore/cube_tile.h"

namespace atc::aicore {

/// Rows that one call of a micro-kernel takes: `groups` groups of `rows`, from `row0` on.
struct RowRun {
  int row0 = 0, rows = 0, groups = 1;
  bool inside = true;  ///< no tap of theirs leaves the plane
  /// Otherwise one group, and the taps that lie in the plane for one of its rows at least, in
  /// RowList::kept, and where each row reads them of the first C0 block, in RowList::first.
  std::size_t kept0 = 0, kept = 0, first0 = 0;
};

struct RowList {
  std::vector<RowRun> runs;
  std::vector<int> kept;            ///< taps
  std::vector<std::int64_t> first;  ///< elements from the tile's first one, or kOutside
  static constexpr std::int64_t kOutside = std::numeric_limits<std::int64_t>::min();
};

/// How the host takes the rows of a product: in groups, those apart whose taps leave the plane. Products come
/// with the same rows and taps again and again (of other panels and C0 blocks), so what was found for the
/// last ones is kept.
class RowRuns {
 public:
  void describe(const RowMap& map);

  /// Of the map that was described last: all taps of all rows, or of some rows, lie in the plane.
  bool all_inside() const { return all_inside_; }
  bool inside(int row0, int count) const;

  /// Groups of at most kTileRows or, `half`, kHalfRows rows. Even ones: 49 rows are 4 groups of 5 and 5 of
  /// 6, not 8 of 6 and a slow single row.
  const RowList& list(bool half);

 private:
  void mark_inside();
  void add_runs(RowList& list, int row0, int rows, int groups) const;
  void find_taps(RowList& list, RowRun& run) const;

  RowMap map_;
  bool all_inside_ = true;
  std::vector<std::uint8_t> inside_;  // by row; not used when all are
  std::array<RowList, 2> lists_;
  std::array<bool, 2> listed_{};
};

}  // namespace atc::aicore
