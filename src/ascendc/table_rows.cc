#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"
#include "atc/base/math.h"

// Functions over rows whose elements are of several types: quantisation, its reverse, and the first k of a
// row. Time is that of the instructions that a kernel would use.
namespace atc::ascendc {
namespace {

constexpr std::int64_t kBlock = 32, kRepeatBytes = 256;

std::int64_t size_of(const AtcOperand& o) { return bits_of(o.type) / 8; }

/// Checks that rows of `cols` elements are in the tensor, `pitch` from one to the next, and logs the access.
void use(Block& b, const AtcSite& site, const char* what, const AtcOperand& o, std::int64_t rows,
         std::int64_t cols, std::int64_t pitch, bool write) {
  if (o.local.bytes == 0) return;
  const std::int64_t size = size_of(o);
  b.check_aligned(site, what, o.local, kBlock);
  b.check_extent(site, what, o.local, 0, ((rows - 1) * pitch + cols) * size);
  if (!b.checks) return;
  for (std::int64_t r = 0; r < rows; ++r) {
    b.touch(site, what, Pipe::V, o.local, r * pitch * size, cols * size, write);
    if (write)
      b.shadow(o.local.memory).set_written(o.local.offset + r * pitch * size, cols * size);
    else
      b.need_written(site, what, o.local, r * pitch * size, cols * size);
  }
}

double number(Block& b, const AtcOperand& o, std::int64_t i) {
  double out = 0.0;
  with_type(o.type, [&](auto zero) {
    auto v = zero;
    std::memcpy(&v, b.bytes(o.local, i * size_of(o)), sizeof v);
    // A scale of 64 bits is a float with flags above it.
    if constexpr (std::is_same_v<decltype(v), std::uint64_t>) {
      float low = 0.0f;
      std::memcpy(&low, &v, sizeof low);
      out = static_cast<double>(low);
    } else {
      out = static_cast<double>(value_of(v));
    }
  });
  return out;
}

template <class T>
void put(Block& b, const AtcOperand& o, std::int64_t i, T v) {
  std::memcpy(b.bytes(o.local, i * static_cast<std::int64_t>(sizeof v)), &v, sizeof v);
}
void put_float(Block& b, const AtcOperand& o, std::int64_t i, float v) {
  if (o.type == ATC_F16)
    put(b, o, i, stored<Half>(v));
  else if (o.type == ATC_BF16)
    put(b, o, i, stored<BFloat16>(v));
  else
    put(b, o, i, v);
}

float in_half(double v) { return value_of(stored<Half>(static_cast<float>(v))); }

/// The order of TopK: NaN first, then by value; places decide between equal ones.
struct Before {
  const std::vector<double>& values;
  bool smallest;
  bool operator()(std::int64_t i, std::int64_t j) const {
    const double a = values[static_cast<std::size_t>(i)], b = values[static_cast<std::size_t>(j)];
    if (std::isnan(a) != std::isnan(b)) return std::isnan(a);
    if (a == b || std::isnan(a)) return i < j;
    return smallest ? a < b : a > b;
  }
};

}  // namespace

void quantized_rows(Block& b, const AtcSite& site, const AtcRows& r) {
  const bool forward = r.op == ATC_ROW_QUANT;
  const char* what = forward ? "AscendQuant" : "AscendDequant";
  b.require_unit(site, what, false);
  if (r.rows <= 0 || r.cols <= 0) return;
  const AtcOperand &x = r.in[0], &scale = r.in[1], &offset = r.in[2], &y = r.out[0];
  // Rows of the result are as long as those of x, up to whole data blocks.
  const std::int64_t pitch = r.count > 0 ? r.count : r.pitch;
  use(b, site, what, x, r.rows, r.cols, r.pitch, false);
  use(b, site, what, scale, 1, r.cols, r.cols, false);
  use(b, site, what, offset, 1, r.cols, r.cols, false);
  use(b, site, what, y, r.rows, r.cols, pitch, true);
  for (std::int64_t i = 0; i < r.rows; ++i)
    for (std::int64_t j = 0; j < r.cols; ++j) {
      const double v = number(b, x, i * r.pitch + j);
      const double s = scale.local.bytes != 0 ? number(b, scale, j) : r.scalar;
      if (!forward) {
        put_float(b, y, i * pitch + j, static_cast<float>(v) * static_cast<float>(s));
        continue;
      }
      const double o = offset.local.bytes != 0 ? number(b, offset, j) : r.second;
      const float product = in_half(static_cast<double>(in_half(v)) * static_cast<double>(in_half(s)));
      const float sum = in_half(static_cast<double>(product) + static_cast<double>(in_half(o)));
      const float whole = std::isnan(sum) ? 0.0f : std::clamp(std::nearbyint(sum), -128.0f, 127.0f);
      put(b, y, i * pitch + j, static_cast<std::int8_t>(whole));
    }
  // To the type of the sum and back, a product, and for a quantisation a sum.
  const std::int64_t passes = forward ? 4 : 3, steps = ceil_div(r.cols * (forward ? 2 : 4), kRepeatBytes);
  b.pipes.issue(Pipe::V, kIssue * passes + r.rows * steps * passes, what, r.rows * r.cols * size_of(x));
}

void top_k_rows(Block& b, const AtcSite& site, const AtcRows& r) {
  constexpr const char* kWhat = "TopK";
  constexpr std::int64_t kSorted = 32, kMostColumns = 4096;
  b.require_unit(site, kWhat, false);
  const bool dense = (r.flag & ATC_ROW_DENSE) != 0;
  const auto limit = [&](bool holds, const std::string& text) {
    if (!holds) b.stop(site, "count", std::string(kWhat) + ": " + text);
  };
  limit(r.rows >= 1, "outter " + std::to_string(r.rows) + " must be at least 1");
  limit(!dense || r.pitch == kSorted, "inner " + std::to_string(r.pitch) + " must be 32 in small mode");
  limit(r.pitch >= kSorted && r.pitch % kSorted == 0 && r.pitch <= kMostColumns,
        "inner " + std::to_string(r.pitch) + " must be a multiple of 32 and at most 4096");
  limit(r.cols >= 1 && r.cols <= r.pitch,
        "n " + std::to_string(r.cols) + " must be from 1 to inner, " + std::to_string(r.pitch));
  limit(r.count >= 1 && r.count <= r.cols,
        "k " + std::to_string(r.count) + " must be from 1 to n, " + std::to_string(r.cols));
  const AtcOperand &x = r.in[0], &places = r.in[1], &over = r.in[2], &values = r.out[0], &found = r.out[1];
  const auto pitch_of = [&](const AtcOperand& o) {
    return dense ? r.count : round_up(r.count, kBlock / size_of(o));
  };
  use(b, site, kWhat, x, r.rows, r.cols, r.pitch, false);
  use(b, site, kWhat, places, dense ? r.rows : 1, r.cols, r.pitch, false);
  use(b, site, kWhat, over, 1, r.rows, r.rows, false);
  use(b, site, kWhat, values, r.rows, r.count, pitch_of(values), true);
  use(b, site, kWhat, found, r.rows, r.count, pitch_of(found), true);
  std::vector<double> row(static_cast<std::size_t>(r.cols));
  std::vector<std::int64_t> order(row.size());
  for (std::int64_t i = 0; i < r.rows; ++i) {
    for (std::int64_t j = 0; j < r.cols; ++j)
      row[static_cast<std::size_t>(j)] = number(b, x, i * r.pitch + j);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + r.count, order.end(),
                      Before{row, (r.flag & ATC_ROW_SMALLEST) != 0});
    const bool is_over = over.local.bytes != 0 && number(b, over, i) != 0.0;
    for (std::int64_t j = 0; j < r.count; ++j) {
      const std::int64_t at = order[static_cast<std::size_t>(j)];
      std::memcpy(b.bytes(values.local, (i * pitch_of(values) + j) * size_of(values)),
                  b.bytes(x.local, (i * r.pitch + at) * size_of(x)), static_cast<std::size_t>(size_of(x)));
      std::int64_t place = at;
      if (is_over)
        place = r.cols;
      else if (places.local.bytes != 0)
        place = static_cast<std::int64_t>(number(b, places, (dense ? i * r.pitch : 0) + at));
      put(b, found, i * pitch_of(found) + j, static_cast<std::int32_t>(place));
    }
  }
  // Sorts of 32 records, merges of four lists until one is left, two extractions.
  constexpr Cycle kSortCycles = 16;
  constexpr std::int64_t kMergedPerCycle = 2;
  Cycle cycles = r.pitch / kSorted * kSortCycles + 2 * ceil_div(r.count * 8, kRepeatBytes);
  for (std::int64_t sorted = kSorted; sorted < r.pitch; sorted *= 4)
    cycles += kIssue + r.pitch / kMergedPerCycle;
  b.pipes.issue(Pipe::V, kIssue * 4 + r.rows * cycles, kWhat, r.rows * r.pitch * size_of(x));
}

}  // namespace atc::ascendc
