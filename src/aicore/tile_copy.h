#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace atc::aicore {

/// How the tiles of a strided copy pass through UB; the same for all tiles of one copy, whatever their
/// extents. Strides are in elements. Axes are those of the tile, outermost first by destination stride;
/// destination strides are positive. Source strides are of any sign, 0 repeats the source.
struct TileCopy {
  static constexpr int kMaxRank = 12;
  using Extents = std::array<std::int64_t, kMaxRank>;

  int rank = 0;
  int element_bytes = 1;
  Extents src_strides{}, dst_strides{};
  /// So many elements behind each run of the innermost axis, which is whole and dense in the destination,
  /// become `fill_bits` and are stored with it.
  std::int64_t pad = 0;
  std::uint64_t fill_bits = 0;

  // Derived by plan().
  std::array<int, kMaxRank> src_order{};  ///< axes that are loaded, by descending |source stride|
  int loaded = 0;                         ///< how many
  bool permute = false;                   ///< loaded into one buffer, permuted into another, which is stored
  bool span = false;  ///< the innermost loaded axis comes with its gaps, which the permutation skips

  /// Fills in the derived fields. A direct copy has the same innermost axis on both sides: bursts place
  /// the runs in the order in which they are stored. Else UB holds the tile in both orders.
  void plan();
  /// Bytes of UB that a tile takes: loaded (0 unless permuted) and stored.
  std::int64_t load_bytes(const Extents& n) const;
  std::int64_t store_bytes(const Extents& n) const;
  /// Elements from the first to the last that a tile touches, relative to its origin.
  struct Reach {
    std::int64_t low = 0, high = 0;
  };
  /// Of the destination, with the padding.
  Reach stored_reach(const Extents& n) const;
  static Reach reach(const Extents& n, const Extents& strides, int rank);

  /// Element strides in UB: of the loaded buffer (`permute`; 0 for repeated axes) and of the stored one
  /// (0 for repeated axes other than the innermost: they are stored several times).
  Extents load_strides(const Extents& n) const;
  Extents store_strides(const Extents& n) const;
};

/// Host loops of a tile copy, Global Memory to Global Memory: blocked transposition when the sides run along
/// different axes, whole runs when they run along the same one.
void copy_strided(std::byte* dst, const std::byte* src, int element_bytes, int rank,
                  const TileCopy::Extents& n, const TileCopy::Extents& dst_strides,
                  const TileCopy::Extents& src_strides);
/// dst[...] = the element at `value`.
void fill_strided(std::byte* dst, const std::byte* value, int element_bytes, int rank,
                  const TileCopy::Extents& n, const TileCopy::Extents& dst_strides);

}  // namespace atc::aicore
