// Interpolation along one axis: each output row is a weighted sum of input rows.

#include <cstring>

#include "aicore/core.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;
// As in gather_unit.cc: elements that the vector unit's Gather takes in a cycle.
constexpr std::int64_t kGatheredPerCycle = 8;
// Rows of this many elements and more are whole blocks for the vector unit; shorter ones are gathered.
constexpr std::int64_t kBlockElements = 8;

/// dst = sum of w[t] * src[offset[t]...], `n` elements. Products are rounded before they are added, in the
/// order of the taps, on every machine.
void weighted_rows(float* __restrict dst, const float* __restrict src, const std::int64_t* offset,
                   const float* w, std::int64_t taps, std::int64_t n) {
  if (taps == 0) {
    std::memset(dst, 0, static_cast<std::size_t>(n) * sizeof(float));
    return;
  }
  const float* a = src + offset[0];
  if (taps == 1) {
    for (std::int64_t i = 0; i < n; ++i) dst[i] = w[0] * a[i];
    return;
  }
  const float* b = src + offset[1];
  for (std::int64_t i = 0; i < n; ++i) dst[i] = w[0] * a[i] + w[1] * b[i];
  for (std::int64_t t = 2; t < taps; ++t) {
    const float* c = src + offset[t];
    for (std::int64_t i = 0; i < n; ++i) dst[i] += w[t] * c[i];
  }
}

/// Outputs along a row: dst[j] = sum of w[j][t] * src[index[j][t] - first], taps of weight zero left out. In
/// the order and with the rounding of weighted_rows.
void weighted_elements(float* dst, const float* src, const std::int32_t* index, const float* w,
                       std::int64_t first, std::int64_t taps, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j, index += taps, w += taps) {
    if (taps == 2 && w[0] != 0.0f && w[1] != 0.0f) {
      dst[j] = w[0] * src[index[0] - first] + w[1] * src[index[1] - first];
      continue;
    }
    float sum = 0;
    bool any = false;
    for (std::int64_t t = 0; t < taps; ++t) {
      if (w[t] == 0.0f) continue;
      const float product = w[t] * src[index[t] - first];
      sum = any ? sum + product : product;
      any = true;
    }
    dst[j] = sum;
  }
}

}  // namespace

void Core::interpolate(Buffer& dst, Buffer& src, Buffer& index, Buffer& weight, const InterpolateTile& t) {
  ATC_CHECK(t.outer * t.count * t.inner * 4 <= dst.bytes && t.outer * t.rows * t.inner * 4 <= src.bytes &&
                t.count * t.taps * 4 <= index.bytes && t.count * t.taps * 4 <= weight.bytes,
            "interpolation beyond its UB buffers");
  if (computes()) {
    const std::int32_t* rows = index.as<std::int32_t>();
    const float* weights = weight.as<float>();
    const float* from = src.as<float>();
    float* to = reinterpret_cast<float*>(writable(dst));
    gathered_.resize(static_cast<std::size_t>(t.taps));
    widened_.resize(static_cast<std::size_t>(t.taps));
    for (std::int64_t i = 0; i < t.count * t.taps; ++i)
      ATC_CHECK(rows[i] >= t.first && rows[i] - t.first < t.rows,
                "interpolation reads row " + std::to_string(rows[i] - t.first) + " of a window of " +
                    std::to_string(t.rows));
    for (std::int64_t o = 0; t.inner == 1 && o < t.outer; ++o)
      weighted_elements(to + o * t.count, from + o * t.rows, rows, weights, t.first, t.taps, t.count);
    for (std::int64_t j = 0; t.inner != 1 && j < t.count; ++j) {
      // Taps of weight zero are not read: they fill up rows that need fewer, and 0 * inf must not give NaN.
      std::int64_t used = 0;
      for (std::int64_t k = 0; k < t.taps; ++k) {
        const std::int64_t row = rows[j * t.taps + k] - t.first;
        const float w = weights[j * t.taps + k];
        if (w == 0.0f) continue;
        gathered_[static_cast<std::size_t>(used)] = row * t.inner;
        widened_[static_cast<std::size_t>(used++)] = w;
      }
      for (std::int64_t o = 0; o < t.outer; ++o)
        weighted_rows(to + (o * t.count + j) * t.inner, from + o * t.rows * t.inner, gathered_.data(),
                      widened_.data(), used, t.inner);
    }
  }
  if (!timing_) return;
  if (t.inner >= kBlockElements) {
    // For each output row and tap one Muls or Axpy, its repeats stepping over the outer positions.
    const std::int64_t each = kIssue + t.outer * ceil_div(t.inner * 4, chip_.vector_bytes);
    issue(Pipe::V, t.count * t.taps * each, "Axpy", t.outer * t.count * t.inner * 4, {&src, &index, &weight},
          {&dst});
    stats_.instructions += t.count * t.taps - 1;
  } else {
    // For each tap: gather the columns, multiply by the row of weights, add.
    const std::int64_t gather = t.outer * (kIssue + ceil_div(t.count * t.inner, kGatheredPerCycle));
    const std::int64_t pass = kIssue + t.outer * ceil_div(t.count * t.inner * 4, chip_.vector_bytes);
    issue(Pipe::V, t.taps * (gather + 2 * pass), "Gather", t.outer * t.count * t.inner * 4,
          {&src, &index, &weight}, {&dst});
    stats_.instructions += t.taps * (t.outer + 2) - 1;
  }
}

}  // namespace atc::aicore
