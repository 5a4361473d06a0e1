#include <algorithm>
#include <cstring>
#include <iterator>

#include "aicore/core.h"
#include "aicore/vector_table.h"
#include "atc/base/check.h"
#include "atc/base/half.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;

LoopOperand operand(const VecRef& ref, int cols) {
  if (ref.buffer == nullptr) return {};
  switch (ref.lanes) {
    case Lanes::Full:
      return {ref.buffer->data, cols, 1};
    case Lanes::PerRow:
      return {ref.buffer->data, 1, 0};
    case Lanes::PerCol:
      return {ref.buffer->data, 0, 1};
    case Lanes::Scalar:
      return {ref.buffer->data, 0, 0};
  }
  return {};
}

bool host_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

template <class S, class D, class F>
void each(const std::byte* src, std::byte* dst, std::int64_t n, F f) {
  const S* s = reinterpret_cast<const S*>(src);
  D* d = reinterpret_cast<D*>(dst);
  for (std::int64_t i = 0; i < n; ++i) d[i] = f(s[i]);
}

void round_to_half(const float* src, float* dst, std::int64_t n) {
  Half halves[512];
  while (n > 0) {
    const std::int64_t part = std::min<std::int64_t>(n, std::size(halves));
    convert(src, halves, static_cast<std::size_t>(part));
    convert(halves, dst, static_cast<std::size_t>(part));
    src += part;
    dst += part;
    n -= part;
  }
}

template <class S, class D>
void widen(const std::byte* src, std::byte* dst, std::int64_t n) {
  each<S, D>(src, dst, n, [](S v) { return static_cast<D>(v); });
}

}  // namespace

const VectorTable& vector_table() {
  static const VectorTable& table = host_has_avx2() ? vector_table_avx2() : vector_table_generic();
  return table;
}

void Core::vector(VecOp op, RegType type, VecRef dst, VecRef a, VecRef b, VecRef c, double imm, int rows,
                  int cols, RegType operand_type) {
  // The tile that is computed is as large as the destination's lanes; operands with fewer are spread.
  // One result a row is a row of results.
  const std::int64_t r = dst.lanes == Lanes::Full ? rows : 1;
  const std::int64_t n = dst.lanes == Lanes::PerRow ? rows : dst.lanes == Lanes::Scalar ? 1 : cols;
  const std::int64_t size = reg_bytes(type);
  ATC_CHECK(lane_count(dst.lanes, rows, cols) * size <= dst.buffer->bytes, "vector result beyond its buffer");
  if (computes()) {
    // Sources first: writable() may turn an in-place destination back into its own memory.
    auto source = [&](const VecRef& ref) {
      LoopOperand o = operand(ref, cols);
      if (dst.lanes == Lanes::PerRow) o = {o.data, 0, ref.lanes == Lanes::Scalar ? 0 : 1};
      return o;
    };
    const LoopOperand oa = source(a), ob = source(b), oc = source(c);
    std::byte* out = writable(*dst.buffer);
    const VectorTable& table = vector_table();
    bool done = false;
    if (op == VecOp::Cast) {
      done = table.cast(type, operand_type, out, oa.data, lane_count(a.lanes, rows, cols));
    } else if (op == VecOp::Round16) {
      round_to_half(static_cast<const float*>(oa.data), reinterpret_cast<float*>(out),
                    lane_count(a.lanes, rows, cols));
      done = true;
    } else {
      done = table.elementwise(
          op, is_comparison(op) || op == VecOp::IsNaN || op == VecOp::IsInf ? operand_type : type, out, oa,
          ob, oc, imm, r, n);
    }
    ATC_CHECK(done, "the vector unit has no " + std::string(name(op)) + " for this type");
  }
  if (timing_) {
    const std::int64_t bytes = std::max<std::int64_t>(size, reg_bytes(operand_type));
    std::int64_t repeats = ceil_div(r * n * bytes, chip_.vector_bytes);
    // A row-wise operand needs Brcb (8 scalars a repeat) and one repeat list a row; a column-wise one too,
    // unless whole rows make a repeat: it is laid out for one repeat then, and read again by all (stride 0).
    const auto has = [&](Lanes lanes) { return a.lanes == lanes || b.lanes == lanes; };
    const bool spread = a.lanes != dst.lanes || b.lanes != dst.lanes;
    const bool whole_rows = !has(Lanes::PerRow) && chip_.vector_bytes % (n * bytes) == 0;
    if (dst.lanes == Lanes::Full && spread && n * bytes % chip_.vector_bytes != 0)
      repeats = whole_rows ? repeats + 1 : r * ceil_div(n * bytes, chip_.vector_bytes);
    if (dst.lanes == Lanes::Full && has(Lanes::PerRow)) repeats += ceil_div(r, 8);
    issue(Pipe::V, kIssue + repeats * vector_passes(op, operand_type), name(op), r * n * size,
          {a.buffer, b.buffer, c.buffer}, {dst.buffer});
  }
}

void Core::reduce(VecOp op, RegType type, Buffer& dst, Buffer& a, bool per_row, int rows, int cols,
                  bool accumulate) {
  const std::int64_t size = reg_bytes(type);
  ATC_CHECK((per_row ? rows : cols) * size <= dst.bytes, "reduction beyond its buffer");
  if (computes()) {
    const std::byte* src = a.data;
    std::byte* out = writable(dst);
    const VectorTable& table = vector_table();
    const bool done = per_row ? table.reduce_rows(op, type, out, src, rows, cols, accumulate)
                              : table.reduce_cols(op, type, out, src, rows, cols, accumulate);
    ATC_CHECK(done, "the vector unit has no " + std::string(name(op)) + " for this type");
  }
  if (timing_) {
    // Along rows: one WholeReduce repeat for each 256 bytes, then the partial results once more.
    const std::int64_t per = ceil_div(cols * size, chip_.vector_bytes);
    const std::int64_t repeats = per_row ? rows * per + ceil_div(rows * per * size, chip_.vector_bytes)
                                         : rows * std::max<std::int64_t>(1, per);
    issue(Pipe::V, kIssue + repeats * vector_passes(op, type), name(op), std::int64_t{rows} * cols * size,
          {&a}, {&dst});
  }
}

void Core::cast_in(Buffer& dst, RegType to, Buffer& src, DType from, std::int64_t count) {
  ATC_CHECK(count * reg_bytes(to) <= dst.bytes, "Cast beyond its buffer");
  if (computes()) {
    const std::byte* s = src.data;
    std::byte* d = writable(dst);
    switch (from) {
      case DType::F16:
        convert(reinterpret_cast<const Half*>(s), reinterpret_cast<float*>(d),
                static_cast<std::size_t>(count));
        break;
      case DType::BF16:
        convert(reinterpret_cast<const BFloat16*>(s), reinterpret_cast<float*>(d),
                static_cast<std::size_t>(count));
        break;
      case DType::I8:
        widen<std::int8_t, std::int32_t>(s, d, count);
        break;
      case DType::U8:
        widen<std::uint8_t, std::int32_t>(s, d, count);
        break;
      case DType::I16:
        widen<std::int16_t, std::int32_t>(s, d, count);
        break;
      case DType::U16:
        widen<std::uint16_t, std::int32_t>(s, d, count);
        break;
      case DType::U32:
        widen<std::uint32_t, std::int64_t>(s, d, count);
        break;
      default:
        ATC_CHECK(reg_type_of(from) == to && bit_width(from) == reg_bytes(to) * 8,
                  "no Cast from " + std::string(atc::name(from)));
        if (s != d) std::memmove(d, s, static_cast<std::size_t>(count * reg_bytes(to)));
    }
  }
  if (timing_)
    issue(Pipe::V, kIssue + ceil_div(count * reg_bytes(to), chip_.vector_bytes), "Cast",
          count * reg_bytes(to), {&src}, {&dst});
}

void Core::cast_out(Buffer& dst, DType to, Buffer& src, RegType from, std::int64_t count) {
  const std::int64_t out_bytes = static_cast<std::int64_t>(byte_size(to, static_cast<std::size_t>(count)));
  ATC_CHECK(out_bytes <= dst.bytes, "Cast beyond its buffer");
  if (computes()) {
    const std::byte* s = src.data;
    std::byte* d = writable(dst);
    switch (to) {
      case DType::F16:
        convert(reinterpret_cast<const float*>(s), reinterpret_cast<Half*>(d),
                static_cast<std::size_t>(count));
        break;
      case DType::BF16:
        convert(reinterpret_cast<const float*>(s), reinterpret_cast<BFloat16*>(d),
                static_cast<std::size_t>(count));
        break;
      case DType::I8:
      case DType::U8:
        widen<std::int32_t, std::uint8_t>(s, d, count);
        break;
      case DType::I16:
      case DType::U16:
        widen<std::int32_t, std::uint16_t>(s, d, count);
        break;
      case DType::U32:
        widen<std::int64_t, std::uint32_t>(s, d, count);
        break;
      default:
        ATC_CHECK(reg_type_of(to) == from && bit_width(to) == reg_bytes(from) * 8,
                  "no Cast to " + std::string(atc::name(to)));
        if (s != d) std::memmove(d, s, static_cast<std::size_t>(out_bytes));
    }
  }
  if (timing_)
    issue(Pipe::V, kIssue + ceil_div(count * reg_bytes(from), chip_.vector_bytes), "Cast",
          count * reg_bytes(from), {&src}, {&dst});
}

}  // namespace atc::aicore
