#include "ascendc/lanes.h"

#include <algorithm>
#include <bit>

#include "atc/base/math.h"

namespace atc::ascendc {
namespace {

std::uint64_t low_bits(std::int64_t n) {
  return n >= 64 ? ~std::uint64_t{0} : n <= 0 ? 0 : (std::uint64_t{1} << n) - 1;
}

LaneSet counted(std::int64_t count, int per_repeat) {
  LaneSet s;
  s.per_repeat = per_repeat;
  s.repeats = ceil_div(count, std::int64_t{per_repeat});
  s.bits = {low_bits(per_repeat), low_bits(per_repeat - 64)};
  s.last = static_cast<int>(count % per_repeat);
  s.total = count;
  return s;
}

}  // namespace

int LaneSet::prefix(std::int64_t repeat) const {
  if (last != 0 && repeat == repeats - 1) return last;
  const int low = std::countr_one(bits[0]), high = std::countr_one(bits[1]);
  if (low < 64) return bits[1] == 0 && std::popcount(bits[0]) == low ? low : 0;
  return std::popcount(bits[1]) == high ? 64 + high : 0;
}

LaneSet lanes_of(Block& b, const AtcSite& site, const char* what, const AtcLanes& l, int element_bits) {
  // A repeat is 256 bytes of the widest operand.
  const int per_repeat = std::min(2048 / std::max(element_bits, 16), 128);
  if (l.form == ATC_LANES_COUNT) {
    if (l.count < 0)
      b.stop(site, "count", std::string(what) + " over " + std::to_string(l.count) + " elements");
    LaneSet s = counted(l.count, per_repeat);
    s.dense = true;
    return s;
  }
  if (l.form == ATC_LANES_REGISTERS && b.mask_counter)
    return counted(static_cast<std::int64_t>(b.mask[0]), per_repeat);
  LaneSet s;
  s.per_repeat = per_repeat;
  s.repeats = l.repeat;
  if (b.checks && (l.repeat < 0 || l.repeat > 255))
    b.fault(site, "repeat", [&] {
      return std::string(what) + ": " + std::to_string(l.repeat) + " repeats, an instruction has 0 to 255";
    });
  if (l.form == ATC_LANES_MASK) {
    const auto n = static_cast<std::int64_t>(l.mask[0]);
    if (b.checks && (n < 1 || n > per_repeat))
      b.fault(site, "mask", [&] {
        return std::string(what) + ": mask " + std::to_string(n) + ", elements of " +
               std::to_string(element_bits / 8) + " bytes have 1 to " + std::to_string(per_repeat) +
               " lanes in a repeat";
      });
    s.bits = {low_bits(std::clamp<std::int64_t>(n, 0, per_repeat)),
              low_bits(std::clamp<std::int64_t>(n, 0, per_repeat) - 64)};
  } else {
    s.bits = l.form == ATC_LANES_BITS ? std::array<std::uint64_t, 2>{l.mask[0], l.mask[1]} : b.mask;
    if (per_repeat <= 64) {
      if (b.checks && l.form == ATC_LANES_BITS &&
          (s.bits[1] != 0 || (s.bits[0] & ~low_bits(per_repeat)) != 0))
        b.fault(site, "mask", [&] {
          return std::string(what) + ": mask bits beyond lane " + std::to_string(per_repeat - 1) +
                 " of elements of " + std::to_string(element_bits / 8) + " bytes";
        });
      s.bits = {s.bits[0] & low_bits(per_repeat), 0};
    }
    if (b.checks && s.bits[0] == 0 && s.bits[1] == 0)
      b.fault(site, "mask", [&] { return std::string(what) + ": the mask names no lane"; });
  }
  s.total = s.repeats * (std::popcount(s.bits[0]) + std::popcount(s.bits[1]));
  return s;
}

Walk walk_of(const AtcOperand& o, const LaneSet& lanes) {
  Walk w;
  w.bits = bits_of(o.type);
  w.per_block = 256 / w.bits;
  if (lanes.dense) {
    w.repeat_bytes = std::int64_t{lanes.per_repeat} * w.bits / 8;
    w.block_bytes = 32;
  } else {
    w.repeat_bytes = std::int64_t{o.stride.repeat} * 32;
    w.block_bytes = std::int64_t{o.stride.block} * 32;
  }
  return w;
}

std::int64_t end_of(const Walk& w, const LaneSet& lanes) {
  if (lanes.repeats <= 0) return 0;
  int high = lanes.per_repeat - 1;
  while (high >= 0 && !lanes.active(0, high)) --high;
  if (lanes.repeats == 1) return high < 0 ? 0 : w.at(0, high) + std::max(1, w.bits / 8);
  int first_high = high, last_high = lanes.last != 0 ? lanes.last - 1 : high;
  const std::int64_t a =
      first_high < 0 ? 0
                     : w.at(lanes.repeats - (lanes.last != 0 ? 2 : 1), first_high) + std::max(1, w.bits / 8);
  const std::int64_t z = last_high < 0 ? 0 : w.at(lanes.repeats - 1, last_high) + std::max(1, w.bits / 8);
  return std::max(a, z);
}

bool contiguous(const Walk& w, const LaneSet& lanes) {
  if (lanes.repeats <= 0) return true;
  if (lanes.prefix(0) == 0 || (w.block_bytes != 32 && lanes.per_repeat > w.per_block)) return false;
  if (lanes.repeats == 1) return true;
  return lanes.prefix(0) == lanes.per_repeat && w.repeat_bytes == std::int64_t{lanes.per_repeat} * w.bits / 8;
}

void use_operand(Block& b, const AtcSite& site, const char* what, const AtcOperand& o, const Walk& w,
                 const LaneSet& lanes, bool write, std::int64_t alignment) {
  const std::int64_t end = end_of(w, lanes);
  b.check_extent(site, what, o.local, 0, end);
  if (!b.checks) return;
  if (o.local.memory != ATC_UB)
    b.fault(site, "unit", [&] { return std::string(what) + " takes tensors of UB: " + b.describe(o.local); });
  b.check_aligned(site, what, o.local, alignment);
  if (contiguous(w, lanes)) {
    b.touch(site, what, Pipe::V, o.local, 0, end, write);
    return;
  }
  for (std::int64_t r = 0; r < lanes.repeats; ++r)
    for (int lane = 0; lane < lanes.per_repeat; lane += w.per_block) {
      // A data block counts from the first to the last lane that takes part.
      int first = -1, last = -1;
      for (int i = lane; i < std::min(lane + w.per_block, lanes.per_repeat); ++i)
        if (lanes.active(r, i)) {
          if (first < 0) first = i;
          last = i;
        }
      if (first >= 0)
        b.touch(site, what, Pipe::V, o.local, w.at(r, first),
                w.at(r, last) + std::max(1, w.bits / 8) - w.at(r, first), write);
    }
}

}  // namespace atc::ascendc
