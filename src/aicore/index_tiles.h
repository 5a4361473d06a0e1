#pragma once

#include <cstdint>

#include "aicore/vector_ops.h"

namespace atc::aicore {

/// How an update meets the element that it goes to.
enum class ScatterOp : std::uint8_t { Set, Add, Mul, Max, Min };
inline constexpr int kScatterOpCount = static_cast<int>(ScatterOp::Min) + 1;

/// A tile of a scatter: UB holds rows [first, first + rows) of an axis of `axis` rows of `inner` elements.
/// Update j goes to the row that index j names, in the order of j. An index below zero counts from the end of
/// the axis; rows outside the tile, or outside the axis, are left as they are.
struct ScatterTile {
  ScatterOp op = ScatterOp::Set;
  RegType type = RegType::F32;  ///< of the elements, unless op is Set
  int element_bytes = 4;
  std::int64_t axis = 1, first = 0, rows = 1, count = 1, inner = 1;
};

/// A tile of a running reduction (Add or Mul) along one axis of rows x cols elements, dense in UB.
struct ScanTile {
  VecOp op = VecOp::Add;
  RegType type = RegType::F32;
  bool along_rows = false;  ///< each row is scanned from column to column, else each column from row to row
  bool exclusive = false;   ///< leave the element itself out
  bool reverse = false;     ///< run from the end
  bool first = true;        ///< the carry starts as the identity, else with what the tile before has left
  std::int64_t rows = 1, cols = 1;
};

/// A tile of a partial sort: in each of `rows` rows the best `keep` of `have` sorted elements and `count`
/// new ones. Equal elements are ordered by index; NaN counts as the largest value.
struct TopTile {
  RegType type = RegType::F32;  ///< F32, I32 or I64
  bool largest = true;
  std::int64_t rows = 1, count = 1, have = 0, keep = 1;
  std::int64_t first = 0;  ///< index of the first new element, when they bring no indices
};

}  // namespace atc::aicore
