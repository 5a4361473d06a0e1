// Partial sorts of rows in UB.

#include <algorithm>
#include <numeric>
#include <vector>

#include "aicore/core.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;
// Modelled: Sort32 puts 32 elements and their indices in order in 16 cycles; MrgSort joins four queues at
// four elements a cycle.
constexpr std::int64_t kSortBlock = 32;
constexpr Cycle kSortBlockCycles = 16;
constexpr std::int64_t kMergedPerCycle = 4;
constexpr std::int64_t kMergeWays = 4;

template <class T>
bool comes_before(T a, T b, bool largest) {
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan || b_nan) return a_nan != b_nan && a_nan == largest;
  return largest ? a > b : a < b;
}

template <class T>
struct Ranked {
  T value;
  std::int32_t index;
};

template <class T>
void top_of_rows(std::byte* best, std::int32_t* best_index, const std::byte* values,
                 const std::int32_t* index, const TopTile& t) {
  const auto have = static_cast<std::size_t>(t.have), count = static_cast<std::size_t>(t.count);
  const std::int64_t kept = std::min(t.keep, t.have + t.count);
  std::vector<Ranked<T>> all(have + count);
  for (std::int64_t r = 0; r < t.rows; ++r) {
    T* b = reinterpret_cast<T*>(best) + r * t.keep;
    std::int32_t* bi = best_index + r * t.keep;
    const T* v = reinterpret_cast<const T*>(values) + r * t.count;
    for (std::size_t k = 0; k < have; ++k) all[k] = {b[k], bi[k]};
    for (std::size_t k = 0; k < count; ++k)
      all[have + k] = {v[k], index != nullptr
                                 ? index[r * t.count + static_cast<std::int64_t>(k)]
                                 : static_cast<std::int32_t>(t.first) + static_cast<std::int32_t>(k)};
    std::partial_sort(all.begin(), all.begin() + kept, all.end(),
                      [&](const Ranked<T>& x, const Ranked<T>& y) {
                        if (comes_before(x.value, y.value, t.largest)) return true;
                        return !comes_before(y.value, x.value, t.largest) && x.index < y.index;
                      });
    for (std::int64_t k = 0; k < kept; ++k) {
      b[k] = all[static_cast<std::size_t>(k)].value;
      bi[k] = all[static_cast<std::size_t>(k)].index;
    }
  }
}

}  // namespace

void Core::top_rows(Buffer& best, Buffer& best_index, Buffer& values, Buffer* index, const TopTile& t) {
  const std::int64_t size = reg_bytes(t.type);
  ATC_CHECK(t.type != RegType::B8, "Sort has no order of bools");
  ATC_CHECK(t.have <= t.keep && t.rows * t.keep * size <= best.bytes &&
                t.rows * t.keep * 4 <= best_index.bytes && t.rows * t.count * size <= values.bytes &&
                (index == nullptr || t.rows * t.count * 4 <= index->bytes),
            "Sort beyond its UB buffers");
  if (computes()) {
    const std::byte* from = values.data;
    const std::int32_t* names = index != nullptr ? index->as<std::int32_t>() : nullptr;
    std::byte* to = t.have == 0 ? writable(best) : best.data;
    std::int32_t* to_index =
        reinterpret_cast<std::int32_t*>(t.have == 0 ? writable(best_index) : best_index.data);
    if (t.type == RegType::F32)
      top_of_rows<float>(to, to_index, from, names, t);
    else if (t.type == RegType::I32)
      top_of_rows<std::int32_t>(to, to_index, from, names, t);
    else
      top_of_rows<std::int64_t>(to, to_index, from, names, t);
  }
  if (timing_) {
    // Sort32 over the new elements, MrgSort until one queue is left, and once more with the best ones. 64-bit
    // keys are sorted by their low and then their high words.
    const std::int64_t keys = t.type == RegType::I64 ? 2 : 1;
    const std::int64_t blocks = ceil_div(t.count, kSortBlock);
    Cycle row = blocks * kSortBlockCycles;
    std::int64_t merges = 0;
    for (std::int64_t queues = blocks; queues > 1; queues = ceil_div(queues, kMergeWays)) ++merges;
    row += merges * ceil_div(t.count, kMergedPerCycle);
    if (t.have > 0) row += ceil_div(t.have + std::min(t.count, t.keep), kMergedPerCycle);
    issue(Pipe::V, keys * (t.rows * row + (merges + 2) * kIssue), "Sort32", t.rows * t.count * size,
          {&values, index, &best, &best_index}, {&best, &best_index});
    stats_.instructions += merges + (t.have > 0 ? 1 : 0);
  }
}

}  // namespace atc::aicore
