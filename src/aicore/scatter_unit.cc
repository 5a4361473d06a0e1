// Scatter within UB: rows of updates go to the rows that an index names.

#include <cstring>

#include "aicore/core.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;
// Modelled like the vector unit's Gather: one element in each of its eight banks a cycle.
constexpr std::int64_t kScatteredPerCycle = 8;

std::int64_t index_at(const std::byte* p, DType dtype, std::int64_t i) {
  if (dtype == DType::I64) {
    std::int64_t v = 0;
    std::memcpy(&v, p + i * 8, sizeof v);
    return v;
  }
  std::int32_t v = 0;
  std::memcpy(&v, p + i * 4, sizeof v);
  return v;
}

/// The tile's row that an index names, -1 when it holds none such.
std::int64_t row_in_tile(std::int64_t index, const ScatterTile& t) {
  if (index < -t.axis || index >= t.axis) return -1;
  const std::int64_t row = (index < 0 ? index + t.axis : index) - t.first;
  return row < t.rows ? row : -1;  // rows before the tile are negative already
}

template <class T>
T wrapping(T a, T b, bool multiply) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<T>(multiply ? x * y : x + y);
  } else {
    return multiply ? a * b : a + b;
  }
}

// NaN wins, as in the vector unit's Max and Min.
template <class T>
T combine(ScatterOp op, T a, T b) {
  switch (op) {
    case ScatterOp::Add:
    case ScatterOp::Mul:
      return wrapping(a, b, op == ScatterOp::Mul);
    case ScatterOp::Max:
      return a > b || a != a ? a : b;
    case ScatterOp::Min:
      return a < b || a != a ? a : b;
    case ScatterOp::Set:
      break;
  }
  return b;
}

template <class T>
void combine_rows(std::byte* dst, const std::byte* updates, const std::byte* index, DType index_type,
                  const ScatterTile& t) {
  T* d = reinterpret_cast<T*>(dst);
  const T* u = reinterpret_cast<const T*>(updates);
  for (std::int64_t j = 0; j < t.count; ++j, u += t.inner) {
    const std::int64_t row = row_in_tile(index_at(index, index_type, j), t);
    if (row < 0) continue;
    T* to = d + row * t.inner;
    for (std::int64_t i = 0; i < t.inner; ++i) to[i] = combine(t.op, to[i], u[i]);
  }
}

void set_rows(std::byte* dst, const std::byte* updates, const std::byte* index, DType index_type,
              const ScatterTile& t) {
  const std::int64_t bytes = t.inner * t.element_bytes;
  for (std::int64_t j = 0; j < t.count; ++j) {
    const std::int64_t row = row_in_tile(index_at(index, index_type, j), t);
    if (row >= 0) std::memcpy(dst + row * bytes, updates + j * bytes, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

void Core::scatter_local(Buffer& dst, Buffer& updates, Buffer& index, DType index_type,
                         const ScatterTile& t) {
  const std::int64_t row = t.inner * t.element_bytes;
  const std::int64_t index_bytes = index_type == DType::I64 ? 8 : 4;
  ATC_CHECK(
      t.rows * row <= dst.bytes && t.count * row <= updates.bytes && t.count * index_bytes <= index.bytes,
      "Scatter beyond its UB buffers");
  ATC_CHECK(t.op == ScatterOp::Set || (t.type != RegType::B8 && t.element_bytes == reg_bytes(t.type)),
            "Scatter combines elements of a type that it has not");
  if (computes()) {
    // In place: an alias of Global Memory must not be written, so the caller moved the tile by copy_ub.
    ATC_CHECK(dst.data == dst.own, "Scatter into an alias of Global Memory");
    if (t.op == ScatterOp::Set)
      set_rows(dst.data, updates.data, index.data, index_type, t);
    else if (t.type == RegType::F32)
      combine_rows<float>(dst.data, updates.data, index.data, index_type, t);
    else if (t.type == RegType::I32)
      combine_rows<std::int32_t>(dst.data, updates.data, index.data, index_type, t);
    else
      combine_rows<std::int64_t>(dst.data, updates.data, index.data, index_type, t);
  }
  if (timing_) {
    // Indices become offsets into the tile once (Adds, two Compares, Select, Muls); then each update is
    // scattered, or gathered, combined and scattered. What is not the tile's goes to a spare row.
    issue(Pipe::V, kIssue + 6 * ceil_div(t.count * index_bytes, chip_.vector_bytes), "Muls",
          t.count * index_bytes, {&index}, {&index});
    // Whole blocks of 32 bytes move as one element.
    const std::int64_t pieces = row % 32 == 0 ? row / 32 : t.inner;
    const std::int64_t passes = t.op == ScatterOp::Set ? 1 : 2;
    Cycle work = kIssue + passes * ceil_div(t.count * pieces, kScatteredPerCycle);
    if (t.op != ScatterOp::Set) work += ceil_div(t.count * row, chip_.vector_bytes);
    issue(Pipe::V, work, "Scatter", t.count * row, {&updates, &index}, {&dst});
  }
}

}  // namespace atc::aicore
