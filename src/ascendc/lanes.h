#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "ascendc/core_block.h"

namespace atc::ascendc {

/// Which elements a vector instruction works on: `repeats` times `per_repeat` lanes, of which bits name those
/// that take part.
struct LaneSet {
  std::int64_t repeats = 0;
  int per_repeat = 64;
  std::array<std::uint64_t, 2> bits{};  ///< of each repeat
  int last = 0;                         ///< lanes of the last repeat in count form; 0: as the others
  bool dense = false;                   ///< count form: operands are contiguous, whatever their strides say
  std::int64_t total = 0;               ///< elements that take part

  bool active(std::int64_t repeat, int lane) const {
    if (last != 0 && repeat == repeats - 1) return lane < last;
    return (bits[static_cast<std::size_t>(lane >> 6)] >> (lane & 63) & 1) != 0;
  }
  /// Lanes 0 to n - 1 of this repeat take part and no others; 0: not so.
  int prefix(std::int64_t repeat) const;
};

/// The lanes of an instruction whose widest elements have `element_bits`; reports masks and repeats out of
/// range.
LaneSet lanes_of(Block& b, const AtcSite& site, const char* what, const AtcLanes& l, int element_bits);

/// Where the elements of an operand are: byte of lane `lane` in repeat `repeat`, from the tensor's start.
struct Walk {
  std::int64_t repeat_bytes = 256, block_bytes = 32;
  int bits = 32;  ///< of an element
  int per_block = 8;
  std::int64_t at(std::int64_t repeat, int lane) const {
    return repeat * repeat_bytes + lane / per_block * block_bytes + lane % per_block * bits / 8;
  }
  /// Lanes of a repeat are contiguous.
  bool dense_repeat() const { return block_bytes == 32; }
};
Walk walk_of(const AtcOperand& o, const LaneSet& lanes);
/// First byte behind the last element that takes part.
std::int64_t end_of(const Walk& w, const LaneSet& lanes);
/// All elements are one stretch.
bool contiguous(const Walk& w, const LaneSet& lanes);

/// Checks of an operand: inside its tensor, aligned to `alignment`; books the access.
void use_operand(Block& b, const AtcSite& site, const char* what, const AtcOperand& o, const Walk& w,
                 const LaneSet& lanes, bool write, std::int64_t alignment = 32);

}  // namespace atc::ascendc
