#include <algorithm>
#include <cstring>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"
#include "ascendc/lanes.h"
#include "ascendc/vector_ops.h"
#include "atc/base/math.h"

// Compare writes one bit an element, lowest first; Select takes them.
namespace atc::ascendc {
namespace {

enum CompareMode { kLt, kGt, kEq, kLe, kGe, kNe };

template <class T>
bool holds(int mode, T a, T b) {
  switch (mode) {
    case kLt:
      return a < b;
    case kGt:
      return a > b;
    case kEq:
      return a == b;
    case kLe:
      return a <= b;
    case kGe:
      return a >= b;
    default:
      return a != b;
  }
}

template <class T>
T element(Block& b, const AtcLocal& t, std::int64_t at) {
  T v;
  std::memcpy(&v, b.bytes(t, at), sizeof v);
  return v;
}

bool known(Block& b, const AtcOperand& o, std::int64_t at) {
  return !b.checks || b.shadow(o.local.memory).written(o.local.offset + at, bits_of(o.type) / 8);
}

}  // namespace

void compare(Block& b, const AtcSite& site, const AtcVector& v) {
  const char* what = name_of(v.op);
  const LaneSet lanes = lanes_of(b, site, what, v.lanes, bits_of(v.src0.type));
  if (lanes.total <= 0) return;
  const std::int64_t size = bits_of(v.src0.type) / 8;
  if (b.checks && lanes.dense && lanes.total * size % 256 != 0)
    b.fault(site, "count", [&] {
      return std::string(what) + " over " + std::to_string(lanes.total) + " elements of " +
             std::string(type_name(v.src0.type)) + " is " + std::to_string(lanes.total * size) +
             " bytes: the count must fill whole repeats of 256 bytes (a multiple of " +
             std::to_string(256 / size) + " elements)";
    });
  if (b.checks && v.src0.type == ATC_I32 && v.mode != kEq)
    b.fault(site, "dtype", [&] { return std::string(what) + " of int32_t has CMPMODE::EQ only"; });
  const Walk a = walk_of(v.src0, lanes), c = walk_of(v.src1, lanes);
  use_operand(b, site, what, v.src0, a, lanes, false);
  const bool two = v.op == ATC_COMPARE;
  if (two) use_operand(b, site, what, v.src1, c, lanes, false);
  const bool to_register = v.dst.local.bytes == 0 && v.lanes.form != ATC_LANES_COUNT && v.lanes.repeat == 1;
  const std::int64_t out_bytes = lanes.repeats * lanes.per_repeat / 8;
  if (!to_register) {
    const std::int64_t used = lanes.dense ? ceil_div(lanes.total, std::int64_t{8}) : out_bytes;
    b.check_extent(site, what, v.dst.local, 0, used);
    b.check_aligned(site, what, v.dst.local, 32);
    b.touch(site, what, Pipe::V, v.dst.local, 0, used, true);
  }
  std::array<std::uint64_t, 2> bits{};
  for (std::int64_t r = 0; r < lanes.repeats; ++r) {
    bits = {};
    std::array<bool, 16> some_known{};  // of the eight lanes of each byte
    for (int i = 0; i < lanes.per_repeat; ++i) {
      if (!lanes.active(r, i)) continue;
      bool set = false;
      with_type(v.src0.type, [&]<class T>(T) {
        const auto x = value_of(element<T>(b, v.src0.local, a.at(r, i)));
        using A = arithmetic_t<T>;
        const A y = two                     ? value_of(element<T>(b, v.src1.local, c.at(r, i)))
                    : std::is_integral_v<A> ? static_cast<A>(v.integer)
                                            : static_cast<A>(v.scalar);
        set = holds(v.mode, x, y);
      });
      if (known(b, v.src0, a.at(r, i)) && (!two || known(b, v.src1, c.at(r, i))))
        some_known[static_cast<std::size_t>(i / 8)] = true;
      if (set) bits[static_cast<std::size_t>(i >> 6)] |= std::uint64_t{1} << (i & 63);
    }
    if (to_register) {
      b.compare_mask = bits;
      continue;
    }
    const std::int64_t at = r * lanes.per_repeat / 8;
    const std::int64_t n = lanes.dense && lanes.last != 0 && r == lanes.repeats - 1
                               ? ceil_div(std::int64_t{lanes.last}, std::int64_t{8})
                               : lanes.per_repeat / 8;
    std::memcpy(b.bytes(v.dst.local, at), bits.data(), static_cast<std::size_t>(n));
    // Lanes at the end of a padded row share a byte with real ones: such a byte counts as known.
    for (std::int64_t k = 0; k < n && b.checks; ++k)
      b.shadow(v.dst.local.memory)
          .set_written(v.dst.local.offset + at + k, 1, some_known[static_cast<std::size_t>(k)]);
  }
  b.pipes.issue(Pipe::V, kIssue + lanes.repeats, what, bytes_for(v.src0.type, lanes.total));
}

void select(Block& b, const AtcSite& site, const AtcVector& v) {
  constexpr const char* kWhat = "Select";
  enum { kRegister, kTensorScalar, kTensorTensor };
  const LaneSet lanes = lanes_of(b, site, kWhat, v.lanes, bits_of(v.dst.type));
  if (lanes.total <= 0) return;
  const bool scalar = v.src1.local.bytes == 0 && v.src1.local.buffer < 0;
  const Walk d = walk_of(v.dst, lanes), a = walk_of(v.src0, lanes), c = walk_of(v.src1, lanes);
  use_operand(b, site, kWhat, v.src0, a, lanes, false);
  if (!scalar) use_operand(b, site, kWhat, v.src1, c, lanes, false);
  const std::int64_t bit_bytes =
      ceil_div(v.mode == kRegister ? std::int64_t{lanes.per_repeat} : lanes.repeats * lanes.per_repeat,
               std::int64_t{8});
  const std::int64_t used_bits =
      lanes.dense && v.mode != kRegister ? ceil_div(lanes.total, std::int64_t{8}) : bit_bytes;
  b.check_extent(site, kWhat, v.work.local, 0, used_bits);
  b.touch(site, kWhat, Pipe::V, v.work.local, 0, used_bits, false);
  use_operand(b, site, kWhat, v.dst, d, lanes, true);
  constexpr std::int64_t kReserved = 8192;
  if (b.checks && v.mode != kRegister && (b.npu_arch == 2201 || b.npu_arch == 2002) &&
      b.buffers.used(ATC_UB) > b.chip.ub - kReserved)
    b.fault(site, "buffer-overflow", [&] {
      return "Select in this mode uses 8192 bytes at the end of UB; the kernel's buffers leave " +
             std::to_string(b.chip.ub - b.buffers.used(ATC_UB));
    });
  const auto* mask = reinterpret_cast<const std::uint8_t*>(b.bytes(v.work.local));
  for (std::int64_t r = 0; r < lanes.repeats; ++r)
    for (int i = 0; i < lanes.per_repeat; ++i) {
      if (!lanes.active(r, i)) continue;
      const std::int64_t bit = v.mode == kRegister ? i : r * lanes.per_repeat + i;
      const bool first = (mask[bit / 8] >> (bit % 8) & 1) != 0;
      with_type(v.dst.type, [&]<class T>(T) {
        T value;
        if (first)
          value = element<T>(b, v.src0.local, a.at(r, i));
        else if (!scalar)
          value = element<T>(b, v.src1.local, c.at(r, i));
        else
          value = stored<T>(static_cast<arithmetic_t<T>>(v.scalar));
        std::memcpy(b.bytes(v.dst.local, d.at(r, i)), &value, sizeof value);
      });
      if (b.checks) {
        const bool fine = b.shadow(v.work.local.memory).written(v.work.local.offset + bit / 8, 1) &&
                          (first ? known(b, v.src0, a.at(r, i)) : scalar || known(b, v.src1, c.at(r, i)));
        b.shadow(v.dst.local.memory)
            .set_written(v.dst.local.offset + d.at(r, i), bits_of(v.dst.type) / 8, fine);
      }
    }
  b.pipes.issue(Pipe::V, kIssue + lanes.repeats * (v.mode == kRegister ? 1 : 2), kWhat,
                bytes_for(v.dst.type, lanes.total));
}

}  // namespace atc::ascendc
