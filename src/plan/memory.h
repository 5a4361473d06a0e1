#pragma once

#include <cstdint>
#include <vector>

namespace atc::plan {

/// One buffer of a static memory problem: alive in the half-open range [lower, upper) of task numbers.
struct Lifetime {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  std::int64_t size = 0;
};

struct MemoryLayout {
  std::vector<std::int64_t> offsets;  ///< one a buffer
  std::int64_t height = 0;            ///< bytes of the arena
  std::int64_t lower_bound = 0;       ///< most bytes alive at once: no layout is smaller
};

/// Largest first, each at the lowest gap that is free during its life. Sizes are rounded up to `alignment`.
MemoryLayout plan_by_size(const std::vector<Lifetime>& buffers, std::int64_t alignment = 64);

/// How hard to look for a layout that greedy orders do not give.
struct MemoryEffort {
  /// Bytes that are low enough: nothing smaller is looked for. The lower bound, when that is more.
  std::int64_t enough = 0;
  /// Most steps of the search, each one section of one buffer looked at; 10^8 are about a second.
  std::int64_t steps = 5'000'000;
};

/// The best of several greedy orders; when that is above the lower bound, a bounded depth-first search.
/// Deterministic: the effort counts steps, not time. Sizes are rounded up to `alignment`.
MemoryLayout plan_memory(const std::vector<Lifetime>& buffers, std::int64_t alignment = 64,
                         const MemoryEffort& effort = {});

}  // namespace atc::plan
