#include <algorithm>
#include <array>
#include <cstring>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"
#include "ascendc/lanes.h"
#include "ascendc/vector_ops.h"

namespace atc::ascendc {
namespace {

bool is_binary(const AtcVector& v) {
  return v.op <= ATC_MUL_CAST || v.op == ATC_XOR || v.op == ATC_HYPOT ||
         (v.op == ATC_POWER && v.src1.local.bytes != 0);
}
bool has_source(std::uint32_t op) { return op != ATC_DUPLICATE && op != ATC_ARANGE; }

/// The operands of an instruction with the walks over them.
struct Plan {
  const AtcVector* v = nullptr;
  const char* what = "";
  LaneSet lanes;
  Walk dst, a, b;
  bool has_a = false, has_b = false;
};

// A result is as well defined as what it is made of, byte by byte or, between widths, element by element.
void propagate(Block& block, const Plan& p, std::int64_t d, std::int64_t a, std::int64_t b, std::int64_t n) {
  const AtcVector& v = *p.v;
  Shadow& shadow = block.shadow(v.dst.local.memory);
  const std::int64_t d_bytes = bytes_for(v.dst.type, n), s_bytes = bytes_for(v.src0.type, n);
  const bool fine = (!p.has_a || shadow.written(v.src0.local.offset + a, s_bytes)) &&
                    (!p.has_b || shadow.written(v.src1.local.offset + b, bytes_for(v.src1.type, n))) &&
                    (!accumulates(v.op) || shadow.written(v.dst.local.offset + d, d_bytes));
  if (fine) {
    shadow.set_written(v.dst.local.offset + d, d_bytes);
    return;
  }
  auto state = [&](const AtcOperand& o, std::int64_t at, std::int64_t i) {
    const std::int64_t first = bytes_for(o.type, i), last = std::max(first, bytes_for(o.type, i + 1) - 1);
    return shadow.written(o.local.offset + at + first, last - first + 1);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const bool known = (!p.has_a || state(v.src0, a, i)) && (!p.has_b || state(v.src1, b, i)) &&
                       (!accumulates(v.op) || state(v.dst, d, i));
    const std::int64_t first = bytes_for(v.dst.type, i);
    shadow.set_written(v.dst.local.offset + d + first, std::max<std::int64_t>(1, bytes_for(v.dst.type, 1)),
                       known);
  }
}

bool stretch(Block& block, const Plan& p, std::int64_t d, std::int64_t a, std::int64_t b, std::int64_t n) {
  const AtcVector& v = *p.v;
  const LaneData data{block.bytes(v.dst.local, d), p.has_a ? block.bytes(v.src0.local, a) : nullptr,
                      p.has_b ? block.bytes(v.src1.local, b) : nullptr, n};
  if (block.checks) propagate(block, p, d, a, b, n);
  return v.op == ATC_CAST ? convert_elements(v.dst.type, v.src0.type, v.mode, block.deq_scale, data)
                          : compute(v, data);
}

// One repeat whose lanes are scattered: through dense copies.
bool scattered(Block& block, const Plan& p, std::int64_t r) {
  const AtcVector& v = *p.v;
  std::array<std::byte, 1024> d{}, a{}, b{};
  std::array<int, 128> lane{};
  int n = 0;
  auto bytes = [](const AtcOperand& o) { return static_cast<std::size_t>(bits_of(o.type) / 8); };
  for (int i = 0; i < p.lanes.per_repeat; ++i) {
    if (!p.lanes.active(r, i)) continue;
    const auto at = static_cast<std::size_t>(n);
    if (p.has_a)
      std::memcpy(a.data() + at * bytes(v.src0), block.bytes(v.src0.local, p.a.at(r, i)), bytes(v.src0));
    if (p.has_b)
      std::memcpy(b.data() + at * bytes(v.src1), block.bytes(v.src1.local, p.b.at(r, i)), bytes(v.src1));
    if (accumulates(v.op))
      std::memcpy(d.data() + at * bytes(v.dst), block.bytes(v.dst.local, p.dst.at(r, i)), bytes(v.dst));
    lane[at] = i;
    ++n;
  }
  const LaneData data{d.data(), a.data(), p.has_b ? b.data() : nullptr, n};
  if (!(v.op == ATC_CAST ? convert_elements(v.dst.type, v.src0.type, v.mode, block.deq_scale, data)
                         : compute(v, data)))
    return false;
  for (int i = 0; i < n; ++i) {
    const int l = lane[static_cast<std::size_t>(i)];
    if (block.checks)
      propagate(block, p, p.dst.at(r, l), p.has_a ? p.a.at(r, l) : 0, p.has_b ? p.b.at(r, l) : 0, 1);
    std::memcpy(block.bytes(v.dst.local, p.dst.at(r, l)),
                d.data() + static_cast<std::size_t>(i) * bytes(v.dst), bytes(v.dst));
  }
  return true;
}

// A source that a later repeat reads after an earlier one has written over it.
bool overlaps(const Plan& p, const AtcOperand& o, const Walk& w) {
  const AtcOperand& dst = p.v->dst;
  if (o.local.memory != dst.local.memory) return false;
  if (o.local.offset == dst.local.offset && bits_of(o.type) >= bits_of(dst.type)) return false;
  const std::int64_t d0 = dst.local.offset, d1 = d0 + end_of(p.dst, p.lanes), s0 = o.local.offset,
                     s1 = s0 + end_of(w, p.lanes);
  return s0 < d1 && d0 < s1;
}

void elementwise(Block& block, const AtcSite& site, const AtcVector& v) {
  Plan p;
  p.v = &v;
  p.what = name_of(v.op);
  p.has_a = has_source(v.op);
  p.has_b = is_binary(v);
  const int bits = std::max(bits_of(v.dst.type), p.has_a ? bits_of(v.src0.type) : 0);
  p.lanes = lanes_of(block, site, p.what, v.lanes, bits);
  if (p.lanes.total <= 0) return;
  if (block.checks && (v.dst.type == ATC_I4 || (p.has_a && v.src0.type == ATC_I4)) && p.lanes.total % 2 != 0)
    block.fault(site, "count", [&] {
      return std::string(p.what) + " of int4b_t over " + std::to_string(p.lanes.total) +
             " elements: two share a byte";
    });
  p.dst = walk_of(v.dst, p.lanes);
  if (p.has_a) {
    p.a = walk_of(v.src0, p.lanes);
    use_operand(block, site, p.what, v.src0, p.a, p.lanes, false);
  }
  if (p.has_b) {
    p.b = walk_of(v.src1, p.lanes);
    use_operand(block, site, p.what, v.src1, p.b, p.lanes, false);
  }
  use_operand(block, site, p.what, v.dst, p.dst, p.lanes, true);
  const bool flat = contiguous(p.dst, p.lanes) && (!p.has_a || contiguous(p.a, p.lanes)) &&
                    (!p.has_b || contiguous(p.b, p.lanes));
  const bool overlap = (p.has_a && overlaps(p, v.src0, p.a)) || (p.has_b && overlaps(p, v.src1, p.b));
  if (flat && overlap && block.checks && p.lanes.repeats > 1)
    block.fault(site, "operand-overlap", [&] {
      return std::string(p.what) +
             ": the destination overlaps a source that begins elsewhere: " + block.describe(v.dst.local) +
             "; " + block.describe(v.src0.local) +
             (p.has_b ? "; " + block.describe(v.src1.local) : std::string()) +
             ". Operands must be the same or apart";
    });
  bool done = true;
  if (v.op == ATC_ARANGE || (flat && !overlap)) {
    done = stretch(block, p, 0, 0, 0, p.lanes.total);
  } else {
    for (std::int64_t r = 0; r < p.lanes.repeats && done; ++r) {
      const int n = p.lanes.prefix(r);
      const bool dense = n > 0 && (p.dst.dense_repeat() || n <= p.dst.per_block) &&
                         (!p.has_a || p.a.dense_repeat() || n <= p.a.per_block) &&
                         (!p.has_b || p.b.dense_repeat() || n <= p.b.per_block) && !overlap;
      done =
          dense ? stretch(block, p, p.dst.at(r, 0), p.has_a ? p.a.at(r, 0) : 0, p.has_b ? p.b.at(r, 0) : 0, n)
                : scattered(block, p, r);
    }
  }
  if (!done)
    block.stop(site, "dtype",
               std::string(p.what) + " does not take " + std::string(type_name(v.src0.type)) + " to " +
                   std::string(type_name(v.dst.type)));
  block.pipes.issue(Pipe::V, kIssue + p.lanes.repeats * passes_of(v.op), p.what,
                    bytes_for(v.dst.type, p.lanes.total));
}

// Eight scalars a repeat, each fills a data block.
void brcb(Block& block, const AtcSite& site, const AtcVector& v) {
  constexpr const char* kWhat = "Brcb";
  constexpr int kScalars = 8, kBlock = 32;
  const std::int64_t repeats = v.lanes.repeat, element = bits_of(v.dst.type) / 8;
  if (block.checks && repeats > 254)
    block.fault(site, "repeat", [&] { return "Brcb: " + std::to_string(repeats) + " repeats, at most 254"; });
  if (repeats <= 0) return;
  const auto at = [&](std::int64_t r, int k) {
    return (r * v.dst.stride.repeat + std::int64_t{k} * v.dst.stride.block) * kBlock;
  };
  block.check_extent(site, kWhat, v.src0.local, 0, repeats * kScalars * element);
  block.check_extent(site, kWhat, v.dst.local, 0, at(repeats - 1, kScalars - 1) + kBlock);
  block.check_aligned(site, kWhat, v.dst.local, kBlock);
  block.check_aligned(site, kWhat, v.src0.local, kBlock);
  block.touch(site, kWhat, Pipe::V, v.src0.local, 0, repeats * kScalars * element, false);
  for (std::int64_t r = 0; r < repeats; ++r) {
    std::array<std::byte, 64> scalars{};
    std::memcpy(scalars.data(), block.bytes(v.src0.local, r * kScalars * element),
                static_cast<std::size_t>(kScalars * element));
    for (int k = 0; k < kScalars; ++k) {
      const std::int64_t source = (r * kScalars + k) * element;
      const bool known = !block.checks || block.shadow(ATC_UB).written(v.src0.local.offset + source, element);
      std::byte* to = block.bytes(v.dst.local, at(r, k));
      for (std::int64_t i = 0; i < kBlock; i += element)
        std::memcpy(to + i, scalars.data() + k * element, static_cast<std::size_t>(element));
      block.touch(site, kWhat, Pipe::V, v.dst.local, at(r, k), kBlock, true);
      if (block.checks) block.shadow(ATC_UB).set_written(v.dst.local.offset + at(r, k), kBlock, known);
    }
  }
  block.pipes.issue(Pipe::V, kIssue + repeats, kWhat, repeats * kScalars * kBlock);
}

}  // namespace

void vector(Block& block, const AtcSite& site, const AtcVector& v) {
  block.begin_instruction();
  block.require_unit(site, name_of(v.op), false);
  if (v.op >= ATC_REDUCE_SUM && v.op <= ATC_PAIR_SUM) return reduce(block, site, v);
  switch (v.op) {
    case ATC_COMPARE:
    case ATC_COMPARE_SCALAR:
      return compare(block, site, v);
    case ATC_SELECT:
      return select(block, site, v);
    case ATC_BRCB:
      return brcb(block, site, v);
    default:
      return elementwise(block, site, v);
  }
}

}  // namespace atc::ascendc
