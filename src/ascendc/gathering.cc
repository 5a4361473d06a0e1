#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"
#include "ascendc/lanes.h"
#include "atc/base/math.h"

// Elements by offset and by mask, sorts of records, 16 x 16 transpositions.
namespace atc::ascendc {
namespace {

// Modelled, as the core's own gathers and sorts are.
constexpr std::int64_t kGatheredPerCycle = 16, kMergedPerCycle = 2;
constexpr Cycle kSortCycles = 16;
constexpr std::int64_t kRecord = 8;

void define(Block& b, const AtcLocal& t, std::int64_t at, std::int64_t n, bool known) {
  if (b.checks) b.shadow(t.memory).set_written(t.offset + at, n, known);
}

}  // namespace

void gather(Block& b, const AtcSite& site, const AtcGather& g) {
  const char* what = g.blocks != 0 ? "Gatherb" : "Gather";
  b.begin_instruction();
  b.require_unit(site, what, false);
  const std::int64_t size = g.blocks != 0 ? 32 : bits_of(g.dst.type) / 8;
  LaneSet lanes = lanes_of(b, site, what, g.lanes, g.blocks != 0 ? 32 : bits_of(g.dst.type));
  if (lanes.total <= 0) return;
  const Walk d = walk_of(g.dst, lanes);
  auto target = [&](std::int64_t r, int i) {
    return g.blocks != 0 ? (r * g.dst.stride.repeat + std::int64_t{i} * g.dst.stride.block) * 32 : d.at(r, i);
  };
  const int per_repeat = g.blocks != 0 ? 8 : lanes.per_repeat;
  if (g.blocks != 0) {
    b.check_extent(site, what, g.dst.local, 0, target(lanes.repeats - 1, 7) + 32);
    b.check_aligned(site, what, g.dst.local, 32);
  } else {
    use_operand(b, site, what, g.dst, d, lanes, true);
  }
  std::int64_t n = 0;
  for (std::int64_t r = 0; r < lanes.repeats; ++r)
    for (int i = 0; i < per_repeat; ++i) {
      if (g.blocks == 0 && !lanes.active(r, i)) continue;
      const std::int64_t index = g.blocks != 0 || !lanes.dense ? r * per_repeat + i : n;
      ++n;
      b.check_extent(site, what, g.offset.local, index * 4, index * 4 + 4);
      b.need_written(site, "Gather (its offsets)", g.offset.local, index * 4, 4);
      std::uint32_t offset = 0;
      std::memcpy(&offset, b.bytes(g.offset.local, index * 4), 4);
      const std::int64_t at = std::int64_t{g.src_base} + offset;
      if (b.checks && at % size != 0)
        b.fault(site, "operand-alignment", [&] {
          return std::string(what) + ": offset " + std::to_string(offset) + " of element " +
                 std::to_string(index) + " is in bytes and must be a multiple of " + std::to_string(size);
        });
      b.check_extent(site, what, g.src.local, at, at + size);
      const std::int64_t to = target(r, i);
      std::memmove(b.bytes(g.dst.local, to), b.bytes(g.src.local, at), static_cast<std::size_t>(size));
      b.touch(site, what, Pipe::V, g.src.local, at, size, false);
      if (g.blocks != 0) b.touch(site, what, Pipe::V, g.dst.local, to, size, true);
      define(b, g.dst.local, to, size,
             !b.checks || b.shadow(g.src.local.memory).written(g.src.local.offset + at, size));
    }
  b.touch(site, what, Pipe::V, g.offset.local, 0, n * 4, false);
  b.pipes.issue(Pipe::V, kIssue + ceil_div(n, kGatheredPerCycle), what, n * size);
}

std::uint64_t gather_mask(Block& b, const AtcSite& site, const AtcGatherMask& g) {
  constexpr const char* kWhat = "GatherMask";
  b.begin_instruction();
  b.require_unit(site, kWhat, false);
  const int bits = bits_of(g.src.type), per_repeat = 2048 / bits;
  const std::int64_t size = bits / 8;
  const bool fixed = g.pattern.local.bytes == 0;
  if (b.checks && fixed && (g.fixed_pattern < 1 || g.fixed_pattern > 7))
    b.fault(site, "mask",
            [&] { return "GatherMask: pattern " + std::to_string(g.fixed_pattern) + ", 1 to 7 exist"; });
  // Normal mode works on whole repeats; reduce mode on `mask` elements of each.
  const std::int64_t each = g.reduce_mode != 0 ? g.mask : per_repeat;
  const std::int64_t repeats = g.repeat;
  auto selected = [&](std::int64_t r, std::int64_t i) {
    if (fixed) {
      switch (g.fixed_pattern) {
        case 1:
          return i % 2 == 0;
        case 2:
          return i % 2 == 1;
        case 7:
          return true;
        default:
          return i % 4 == g.fixed_pattern - 3;
      }
    }
    const std::int64_t bit = r * g.pattern_repeat_stride * 256 + i;
    b.check_extent(site, kWhat, g.pattern.local, bit / 8, bit / 8 + 1);
    return (static_cast<int>(*b.bytes(g.pattern.local, bit / 8)) >> (bit % 8) & 1) != 0;
  };
  const int per_block = 256 / bits;
  std::int64_t n = 0;
  std::vector<std::byte> out;
  std::vector<bool> known;
  for (std::int64_t r = 0; r < repeats; ++r)
    for (std::int64_t i = 0; i < each; ++i) {
      if (!selected(r, i)) continue;
      const std::int64_t at =
          r * g.src_repeat_stride * 32 + i / per_block * g.src_block_stride * 32 + i % per_block * size;
      b.check_extent(site, kWhat, g.src.local, at, at + size);
      b.touch(site, kWhat, Pipe::V, g.src.local, at, size, false);
      out.insert(out.end(), b.bytes(g.src.local, at), b.bytes(g.src.local, at) + size);
      known.push_back(!b.checks || b.shadow(ATC_UB).written(g.src.local.offset + at, size));
      ++n;
    }
  b.check_aligned(site, kWhat, g.dst.local, 32);
  b.check_aligned(site, kWhat, g.src.local, 32);
  b.check_extent(site, kWhat, g.dst.local, 0, n * size);
  std::memcpy(b.bytes(g.dst.local), out.data(), out.size());
  b.touch(site, kWhat, Pipe::V, g.dst.local, 0, n * size, true);
  for (std::int64_t i = 0; i < n && b.checks; ++i)
    define(b, g.dst.local, i * size, size, known[static_cast<std::size_t>(i)]);
  // The instruction leaves the mask in normal mode.
  b.mask_counter = false;
  b.pipes.issue(Pipe::V, kIssue + repeats * ceil_div(each, std::int64_t{per_repeat}) * 2, kWhat, n * size);
  return static_cast<std::uint64_t>(n);
}

void sort32(Block& b, const AtcSite& site, const AtcSort32& s) {
  constexpr const char* kWhat = "Sort32";
  constexpr std::int64_t kRun = 32;
  b.begin_instruction();
  b.require_unit(site, kWhat, false);
  const std::int64_t size = bits_of(s.type) / 8, repeats = s.repeat;
  if (b.checks && (repeats < 0 || repeats > 255))
    b.fault(site, "repeat",
            [&] { return "Sort32: " + std::to_string(repeats) + " repeats, an instruction has 0 to 255"; });
  if (repeats <= 0) return;
  b.check_extent(site, kWhat, s.value, 0, repeats * kRun * size);
  b.check_extent(site, kWhat, s.index, 0, repeats * kRun * 4);
  b.check_extent(site, kWhat, s.dst, 0, repeats * kRun * kRecord);
  for (const AtcLocal* t : {&s.value, &s.index, &s.dst}) b.check_aligned(site, kWhat, *t, 32);
  b.touch(site, kWhat, Pipe::V, s.value, 0, repeats * kRun * size, false);
  b.touch(site, kWhat, Pipe::V, s.index, 0, repeats * kRun * 4, false);
  b.need_written(site, kWhat, s.value, 0, repeats * kRun * size);
  b.need_written(site, kWhat, s.index, 0, repeats * kRun * 4);
  for (std::int64_t r = 0; r < repeats; ++r) {
    std::array<float, kRun> value{};
    std::array<std::uint32_t, kRun> index{};
    std::array<std::uint32_t, kRun> bits{};
    std::array<int, kRun> order{};
    std::memcpy(index.data(), b.bytes(s.index, r * kRun * 4), sizeof index);
    for (std::size_t i = 0; i < kRun; ++i) {
      std::memcpy(&bits[i], b.bytes(s.value, (r * kRun + static_cast<std::int64_t>(i)) * size),
                  static_cast<std::size_t>(size));
      value[i] = s.type == ATC_F16 ? to_float(Half{static_cast<std::uint16_t>(bits[i])})
                                   : std::bit_cast<float>(bits[i]);
      order[i] = static_cast<int>(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
      const float a = value[static_cast<std::size_t>(x)], c = value[static_cast<std::size_t>(y)];
      return a > c || (std::isnan(a) && !std::isnan(c));
    });
    for (std::size_t i = 0; i < kRun; ++i) {
      const auto from = static_cast<std::size_t>(order[i]);
      const std::uint32_t record[2] = {bits[from], index[from]};
      std::memcpy(b.bytes(s.dst, (r * kRun + static_cast<std::int64_t>(i)) * kRecord), record, kRecord);
    }
  }
  b.touch(site, kWhat, Pipe::V, s.dst, 0, repeats * kRun * kRecord, true);
  define(b, s.dst, 0, repeats * kRun * kRecord, true);
  b.pipes.issue(Pipe::V, kIssue + repeats * kSortCycles, kWhat, repeats * kRun * kRecord);
}

void merge_sort(Block& b, const AtcSite& site, const AtcMergeSort& m) {
  constexpr const char* kWhat = "MrgSort";
  b.begin_instruction();
  b.require_unit(site, kWhat, false);
  if (b.checks && (m.valid != 0x3 && m.valid != 0x7 && m.valid != 0xf && m.valid != 0x1))
    b.fault(site, "mask", [&] {
      return "MrgSort: validBit " + std::to_string(m.valid) + ", 3, 7 or 15 (2, 3 or 4 lists) exist";
    });
  std::int64_t total = 0;
  for (int i = 0; i < 4; ++i)
    if ((m.valid >> i & 1) != 0) total += m.length[i];
  b.check_extent(site, kWhat, m.dst, 0, total * kRecord * m.repeat);
  b.check_aligned(site, kWhat, m.dst, 32);
  std::vector<std::byte> out;
  std::array<std::uint16_t, 4> taken{};
  for (int r = 0; r < m.repeat; ++r) {
    taken = {};
    auto record = [&](int list) {
      return (std::int64_t{r} * m.length[list] + taken[static_cast<std::size_t>(list)]) * kRecord;
    };
    auto value = [&](int list) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, b.bytes(m.src[list], record(list)), m.type == ATC_F16 ? 2 : 4);
      return m.type == ATC_F16 ? to_float(Half{static_cast<std::uint16_t>(bits)})
                               : std::bit_cast<float>(bits);
    };
    for (int i = 0; i < 4 && r == 0; ++i)
      if ((m.valid >> i & 1) != 0) {
        const std::int64_t n = std::int64_t{m.length[i]} * kRecord * m.repeat;
        b.check_extent(site, kWhat, m.src[i], 0, n);
        b.check_aligned(site, kWhat, m.src[i], 8);
        b.touch(site, kWhat, Pipe::V, m.src[i], 0, n, false);
        b.need_written(site, kWhat, m.src[i], 0, n);
      }
    for (;;) {
      int best = -1;
      bool exhausted = false;
      for (int i = 0; i < 4; ++i) {
        if ((m.valid >> i & 1) == 0) continue;
        if (taken[static_cast<std::size_t>(i)] >= m.length[i]) {
          exhausted = true;
          continue;
        }
        if (best < 0 || value(i) > value(best)) best = i;
      }
      if (best < 0 || (exhausted && m.suspend != 0)) break;
      out.insert(out.end(), b.bytes(m.src[best], record(best)), b.bytes(m.src[best], record(best)) + kRecord);
      ++taken[static_cast<std::size_t>(best)];
    }
  }
  std::memcpy(b.bytes(m.dst), out.data(), out.size());
  const auto n = static_cast<std::int64_t>(out.size());
  b.touch(site, kWhat, Pipe::V, m.dst, 0, n, true);
  define(b, m.dst, 0, n, true);
  if (m.merged != nullptr) std::copy(taken.begin(), taken.end(), m.merged);
  b.pipes.issue(Pipe::V, kIssue + ceil_div(n / kRecord, kMergedPerCycle), kWhat, n);
}

// 16-bit: row i of the 16 sources is a block of 16 elements, block j of the destination takes element j of
// each. 32-bit: two destinations a row of 8. 8-bit: 32 elements in two halves.
void trans_data(Block& b, const AtcSite& site, const AtcTransData& t) {
  constexpr const char* kWhat = "TransDataTo5HD";
  b.begin_instruction();
  b.require_unit(site, kWhat, false);
  const std::int64_t size = bits_of(t.type) / 8;
  const std::int64_t per_block = 32 / size;
  for (int i = 0; i < 16; ++i) {
    b.check_aligned(site, kWhat, t.src[i], 32);
    b.check_aligned(site, kWhat, t.dst[i], 32);
  }
  for (int r = 0; r < t.repeat; ++r) {
    std::array<std::array<std::byte, 32>, 16> in{};
    std::array<std::array<bool, 32>, 16> known{};
    const std::int64_t from = std::int64_t{r} * t.src_repeat_stride * 32,
                       to = std::int64_t{r} * t.dst_repeat_stride * 32;
    for (std::size_t i = 0; i < 16; ++i) {
      b.check_extent(site, kWhat, t.src[i], from, from + 32);
      b.check_extent(site, kWhat, t.dst[i], to, to + 32);
      b.touch(site, kWhat, Pipe::V, t.src[i], from, 32, false);
      std::memcpy(in[i].data(), b.bytes(t.src[i], from), 32);
      for (std::size_t k = 0; k < 32; ++k)
        known[i][k] =
            !b.checks || b.shadow(ATC_UB).written(t.src[i].offset + from + static_cast<std::int64_t>(k), 1);
    }
    auto move = [&](std::size_t src_row, std::int64_t src_element, std::size_t dst_row,
                    std::int64_t dst_element) {
      const std::int64_t s = src_element * size, d = to + dst_element * size;
      std::memcpy(b.bytes(t.dst[dst_row], d), in[src_row].data() + s, static_cast<std::size_t>(size));
      define(b, t.dst[dst_row], d, size, known[src_row][static_cast<std::size_t>(s)]);
    };
    for (std::size_t i = 0; i < 16; ++i) b.touch(site, kWhat, Pipe::V, t.dst[i], to, 32, true);
    for (std::size_t i = 0; i < 16; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      if (size == 2) {
        for (std::int64_t k = 0; k < 16; ++k) move(i, k, static_cast<std::size_t>(k), row);
      } else if (size == 4) {
        // Column k of the 16 rows fills the blocks 2k and 2k + 1.
        for (std::int64_t k = 0; k < per_block; ++k)
          move(i, k, static_cast<std::size_t>(2 * k + row / 8), row % 8);
      } else {
        for (std::int64_t k = 0; k < 16; ++k)
          move(i, k + (t.src_high != 0 ? 16 : 0), static_cast<std::size_t>(k),
               row + (t.dst_high != 0 ? 16 : 0));
      }
    }
  }
  b.pipes.issue(Pipe::V, kIssue + 2 * std::int64_t{t.repeat}, kWhat, std::int64_t{t.repeat} * 512);
}

}  // namespace atc::ascendc
