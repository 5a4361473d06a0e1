#pragma once

#include <optional>
#include <vector>

#include "ops/box_copy.h"

/// Values whose elements are those of another in other places: pieces, each a box of positions on which
/// source and place are affine. Slices, Concats, Transposes and Reshapes keep it so, where pieces are cut at
/// their edges.
namespace atc::passes {

/// Positions (i0, i1, ...) of a box with one axis for each of `axes`.
struct CopyPiece {
  struct Axis {
    std::int64_t size = 1;
    std::int64_t source = 0;  ///< elements of the source from one position to the next
    std::size_t along = 0;    ///< axis of the value that it runs along ...
    std::int64_t step = 1;    ///< ... by so many positions; > 0
  };
  std::vector<Axis> axes;
  std::int64_t source = 0;  ///< first element of the source
  Dims start;               ///< first position along each axis of the value
};

/// A value of dims `dims` in pieces, which cover it.
struct CopyPieces {
  Dims dims;
  std::vector<CopyPiece> pieces;
};

/// Pieces beyond this are no copy that is worth it.
inline constexpr std::size_t kMaxCopyPieces = 24;

CopyPieces whole_copy(const Dims& dims);
CopyPieces transposed_copy(CopyPieces value, const Dims& perm);
/// Positions [first, last) along `axis`. nullopt: more than kMaxCopyPieces pieces.
std::optional<CopyPieces> sliced_copy(const CopyPieces& value, std::size_t axis, std::int64_t first,
                                      std::int64_t last);
/// `parts` side by side along `axis`.
std::optional<CopyPieces> joined_copies(const std::vector<CopyPieces>& parts, std::size_t axis);
/// The same elements, in row-major order, under other dims. nullopt where the edges of pieces do not divide.
std::optional<CopyPieces> reshaped_copy(const CopyPieces& value, const Dims& dims);

/// The pieces as boxes of a dense row-major value.
std::vector<ops::CopyBox> copy_boxes(const CopyPieces& value);

}  // namespace atc::passes
