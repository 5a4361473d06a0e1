// Gathers by an index: rows of Global Memory into UB, and rows within UB.

#include <cstring>

#include "aicore/core.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;
// Modelled: the vector unit's Gather takes one element in each of its eight banks a cycle.
constexpr std::int64_t kGatheredPerCycle = 8;

/// The row an index names, -1 when it is out of range.
std::int64_t row_of(std::int64_t index, std::int64_t rows) {
  if (index < -rows || index >= rows) return -1;
  return index < 0 ? index + rows : index;
}

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

template <std::size_t BYTES>
void gather_fixed(std::byte* dst, const std::byte* src, const std::vector<std::int64_t>& rows) {
  for (const std::int64_t row : rows) {
    if (row < 0)
      std::memset(dst, 0, BYTES);
    else
      std::memcpy(dst, src + row * static_cast<std::int64_t>(BYTES), BYTES);
    dst += BYTES;
  }
}

void gather_bytes(std::byte* dst, const std::byte* src, const std::vector<std::int64_t>& rows,
                  std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return gather_fixed<1>(dst, src, rows);
    case 2:
      return gather_fixed<2>(dst, src, rows);
    case 4:
      return gather_fixed<4>(dst, src, rows);
    case 8:
      return gather_fixed<8>(dst, src, rows);
    case 16:
      return gather_fixed<16>(dst, src, rows);
    default:
      for (const std::int64_t row : rows) {
        if (row < 0)
          std::memset(dst, 0, static_cast<std::size_t>(bytes));
        else
          std::memcpy(dst, src + row * bytes, static_cast<std::size_t>(bytes));
        dst += bytes;
      }
  }
}

}  // namespace

void Core::gather_rows(Buffer& dst, const Gm& data, std::int64_t data_element, const Gm& index,
                       std::int64_t first_index, DType index_type, const GatherTile& t) {
  const std::int64_t row = t.inner * t.element_bytes;
  ATC_CHECK(t.outer * t.count * row <= dst.bytes, "gathered rows beyond their UB buffer");
  std::byte* out = computes() ? writable(dst) : nullptr;
  for (std::int64_t j = 0; j < t.count; ++j) {
    const std::int64_t from = row_of(read_scalar(index, first_index + j, index_type), t.axis);
    const std::int64_t at = (data_element + std::max<std::int64_t>(from, 0) * t.row_stride) * t.element_bytes;
    check_gm(data, at, ((t.outer - 1) * t.outer_stride + t.inner) * t.element_bytes);
    for (std::int64_t o = 0; computes() && o < t.outer; ++o) {
      std::byte* to = out + (o * t.count + j) * row;
      if (from < 0)
        std::memset(to, 0, static_cast<std::size_t>(row));
      else
        std::memcpy(to, data.data + at + o * t.outer_stride * t.element_bytes, static_cast<std::size_t>(row));
    }
    // Rows out of range are fetched like others and then zeroed: the index is not known to the timeline.
    if (timing_) {
      stats_.gm_read += t.outer * row;
      issue(Pipe::MTE2, gm_cycles(data, t.outer, row, false), "DataCopy", t.outer * row, {}, {&dst});
    }
  }
}

void Core::gather_local(Buffer& dst, Buffer& data, Buffer& index, DType index_type, const GatherTile& t) {
  const std::int64_t row = t.inner * t.element_bytes;
  const std::int64_t index_bytes = index_type == DType::I64 ? 8 : 4;
  ATC_CHECK(t.outer * t.count * row <= dst.bytes && t.outer * t.axis * row <= data.bytes &&
                t.count * index_bytes <= index.bytes,
            "Gather beyond its UB buffers");
  if (computes()) {
    gathered_.resize(static_cast<std::size_t>(t.count));
    for (std::int64_t j = 0; j < t.count; ++j)
      gathered_[static_cast<std::size_t>(j)] = row_of(index_at(index.data, index_type, j), t.axis);
    const std::byte* from = data.data;
    std::byte* to = writable(dst);
    for (std::int64_t o = 0; o < t.outer; ++o)
      gather_bytes(to + o * t.count * row, from + o * t.axis * row, gathered_, row);
  }
  if (timing_) {
    // Indices become byte offsets once (range check, Select, Muls), then each outer position is gathered.
    issue(Pipe::V, kIssue + 6 * ceil_div(t.count * index_bytes, chip_.vector_bytes), "Muls",
          t.count * index_bytes, {&index}, {&index});
    // Whole blocks of 32 bytes move as one element of the Gatherb form.
    const std::int64_t pieces = row % 32 == 0 ? row / 32 : t.inner;
    issue(Pipe::V, t.outer * (kIssue + ceil_div(t.count * pieces, kGatheredPerCycle)), "Gather",
          t.outer * t.count * row, {&data, &index}, {&dst});
  }
}

}  // namespace atc::aicore
