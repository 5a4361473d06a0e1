#include "plan/memory.h"

#include <algorithm>
#include <numeric>

#include "atc/base/math.h"

namespace atc::plan {
namespace {

bool overlap(const Lifetime& a, const Lifetime& b) { return a.lower < b.upper && b.lower < a.upper; }

// First fit in the given order.
MemoryLayout place(const std::vector<Lifetime>& buffers, const std::vector<std::size_t>& order) {
  MemoryLayout out;
  out.offsets.assign(buffers.size(), 0);
  std::vector<std::size_t> placed;  // by offset
  for (std::size_t i : order) {
    std::int64_t at = 0;
    for (std::size_t j : placed) {
      if (!overlap(buffers[i], buffers[j])) continue;
      if (out.offsets[j] - at >= buffers[i].size) break;
      at = std::max(at, out.offsets[j] + buffers[j].size);
    }
    out.offsets[i] = at;
    out.height = std::max(out.height, at + buffers[i].size);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), i,
                         [&](std::size_t a, std::size_t b) { return out.offsets[a] < out.offsets[b]; }),
        i);
  }
  return out;
}

std::int64_t most_alive(const std::vector<Lifetime>& buffers) {
  std::vector<std::pair<std::int64_t, std::int64_t>> events;
  for (const Lifetime& b : buffers) {
    events.emplace_back(b.lower, b.size);
    events.emplace_back(b.upper, -b.size);
  }
  // Half-open: what ends goes before what begins.
  std::sort(events.begin(), events.end());
  std::int64_t alive = 0, most = 0;
  for (const auto& e : events) most = std::max(most, alive += e.second);
  return most;
}

}  // namespace

MemoryLayout plan_memory(const std::vector<Lifetime>& input, std::int64_t alignment) {
  std::vector<Lifetime> buffers = input;
  for (Lifetime& b : buffers) b.size = round_up(b.size, alignment);
  const std::int64_t bound = most_alive(buffers);
  std::vector<std::size_t> order(buffers.size());
  auto area = [&](std::size_t i) { return buffers[i].size * (buffers[i].upper - buffers[i].lower); };
  auto by = [&](auto key) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
    return place(buffers, order);
  };
  MemoryLayout best = by([&](std::size_t i) { return std::pair(buffers[i].size, area(i)); });
  for (int attempt = 0; attempt < 3 && best.height > bound; ++attempt) {
    MemoryLayout other =
        attempt == 0   ? by([&](std::size_t i) { return std::pair(area(i), buffers[i].size); })
        : attempt == 1 ? by([&](std::size_t i) {
            return std::pair(buffers[i].upper - buffers[i].lower, buffers[i].size);
          })
                       : by([&](std::size_t i) { return std::pair(-buffers[i].lower, buffers[i].size); });
    if (other.height < best.height) best = std::move(other);
  }
  best.lower_bound = bound;
  return best;
}

}  // namespace atc::plan
