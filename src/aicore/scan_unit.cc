// Running reductions along one axis of a tile in UB.

#include "aicore/core.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;

template <class T>
T combine(T a, T b, bool multiply) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<T>(multiply ? x * y : x + y);
  } else {
    return multiply ? a * b : a + b;
  }
}

/// Lanes are the other axis: position k of lane i is element k * step + i * lane. Elements join in order, so
/// that the sums do not depend on how the axis is cut into tiles.
template <class T>
void scan_lanes(std::byte* dst, const std::byte* src, std::byte* carry, const ScanTile& t) {
  T* d = reinterpret_cast<T*>(dst);
  const T* s = reinterpret_cast<const T*>(src);
  T* total = reinterpret_cast<T*>(carry);
  const std::int64_t length = t.along_rows ? t.cols : t.rows, lanes = t.along_rows ? t.rows : t.cols;
  const std::int64_t step = t.along_rows ? 1 : t.cols, lane = t.along_rows ? t.cols : 1;
  const bool multiply = t.op == VecOp::Mul;
  if (t.first)
    for (std::int64_t i = 0; i < lanes; ++i) total[i] = multiply ? T{1} : T{0};
  auto scan_one = [&](std::int64_t k, std::int64_t i) {
    const std::int64_t at = (t.reverse ? length - 1 - k : k) * step + i * lane;
    const T before = total[i];
    total[i] = combine(before, s[at], multiply);
    d[at] = t.exclusive ? before : total[i];
  };
  if (t.along_rows) {
    for (std::int64_t i = 0; i < lanes; ++i)
      for (std::int64_t k = 0; k < length; ++k) scan_one(k, i);
  } else {
    for (std::int64_t k = 0; k < length; ++k)
      for (std::int64_t i = 0; i < lanes; ++i) scan_one(k, i);
  }
}

}  // namespace

void Core::scan(Buffer& dst, Buffer& src, Buffer& carry, const ScanTile& t) {
  const std::int64_t size = reg_bytes(t.type), lanes = t.along_rows ? t.rows : t.cols;
  ATC_CHECK(t.rows * t.cols * size <= dst.bytes && t.rows * t.cols * size <= src.bytes &&
                lanes * size <= carry.bytes,
            "scan beyond its UB buffers");
  ATC_CHECK((t.op == VecOp::Add || t.op == VecOp::Mul) && t.type != RegType::B8,
            "no scan by " + std::string(name(t.op)) + " for this type");
  if (computes()) {
    const std::byte* from = src.data;
    std::byte* total = t.first ? writable(carry) : carry.data;
    std::byte* to = writable(dst);
    if (t.type == RegType::F32)
      scan_lanes<float>(to, from, total, t);
    else if (t.type == RegType::I32)
      scan_lanes<std::int32_t>(to, from, total, t);
    else
      scan_lanes<std::int64_t>(to, from, total, t);
  }
  if (timing_) {
    // One Add for each position, over all lanes; a row is first turned into a column and back (16 x 16
    // blocks of 16-bit lanes, two passes each way, as in copy_ub).
    const std::int64_t length = t.along_rows ? t.cols : t.rows;
    const Cycle adds =
        length * (kIssue + ceil_div(lanes * size, chip_.vector_bytes) * vector_passes(t.op, t.type));
    const Cycle turn = t.along_rows ? 2 * (kIssue + 2 * ceil_div(t.rows * t.cols * size, 64)) : 0;
    issue(Pipe::V, adds + turn, "Add", t.rows * t.cols * size, {&src, &carry}, {&dst, &carry});
    stats_.instructions += length - 1 + (t.along_rows ? 2 : 0);
  }
}

}  // namespace atc::aicore
