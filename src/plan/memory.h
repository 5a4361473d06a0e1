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

/// Largest first, each at the lowest gap that is free during its life; the best of several orders.
/// Deterministic. Sizes are rounded up to `alignment`.
MemoryLayout plan_memory(const std::vector<Lifetime>& buffers, std::int64_t alignment = 64);

}  // namespace atc::plan
