#include "plan/memory.h"

#include <algorithm>
#include <numeric>

#include "atc/base/math.h"
#include "plan/memory_search.h"

namespace atc::plan {
namespace {

// Above this many buffers the search's tables of pairs cost more than it finds.
constexpr std::size_t kSearchedBuffers = 2000;

bool overlap(const Lifetime& a, const Lifetime& b) { return a.lower < b.upper && b.lower < a.upper; }

/// The buffers that are placed, by stretches of time and in each by offset, so that those alive beside a
/// buffer are found without looking at all of them.
class Placed {
 public:
  explicit Placed(const std::vector<Lifetime>& buffers) : buffers_(buffers) {
    // Few buffers are looked at sooner than sorted.
    const std::size_t stretches = buffers.size() <= 1000 ? 1 : 512;
    std::int64_t end = INT64_MIN;
    for (const Lifetime& b : buffers) {
      begin_ = std::min(begin_, b.lower);
      end = std::max(end, b.upper);
    }
    if (stretches > 1) width_ = since_begin(end) / stretches + 1;
    stretches_.resize(stretches);
  }

  /// Among others, all that are alive beside buffer i; by offset.
  const std::vector<std::size_t>& near(std::size_t i, const std::vector<std::int64_t>& offsets) {
    const auto [first, last] = range(i);
    if (first == last) return stretches_[first];
    gathered_.clear();
    for (std::size_t s = first; s <= last; ++s)
      gathered_.insert(gathered_.end(), stretches_[s].begin(), stretches_[s].end());
    std::sort(gathered_.begin(), gathered_.end(), [&](std::size_t a, std::size_t b) {
      return offsets[a] != offsets[b] ? offsets[a] < offsets[b] : a < b;
    });
    gathered_.erase(std::unique(gathered_.begin(), gathered_.end()), gathered_.end());
    return gathered_;
  }

  void add(std::size_t i, const std::vector<std::int64_t>& offsets) {
    const auto [first, last] = range(i);
    for (std::size_t s = first; s <= last; ++s) {
      std::vector<std::size_t>& stretch = stretches_[s];
      const auto below = [&](std::size_t a, std::size_t b) { return offsets[a] < offsets[b]; };
      stretch.insert(std::upper_bound(stretch.begin(), stretch.end(), i, below), i);
    }
  }

 private:
  std::uint64_t since_begin(std::int64_t moment) const {
    return static_cast<std::uint64_t>(moment) - static_cast<std::uint64_t>(begin_);
  }

  std::pair<std::size_t, std::size_t> range(std::size_t i) const {
    const auto stretch = [&](std::int64_t moment) {
      return std::min<std::uint64_t>(since_begin(moment) / width_, stretches_.size() - 1);
    };
    const Lifetime& b = buffers_[i];
    return {stretch(b.lower), stretch(std::max(b.lower, b.upper - 1))};
  }

  const std::vector<Lifetime>& buffers_;
  std::int64_t begin_ = INT64_MAX;
  std::uint64_t width_ = UINT64_MAX;
  std::vector<std::vector<std::size_t>> stretches_;
  std::vector<std::size_t> gathered_;
};

// First fit in the given order.
MemoryLayout place(const std::vector<Lifetime>& buffers, const std::vector<std::size_t>& order) {
  MemoryLayout out;
  out.offsets.assign(buffers.size(), 0);
  Placed placed(buffers);
  for (std::size_t i : order) {
    std::int64_t at = 0;
    for (std::size_t j : placed.near(i, out.offsets)) {
      if (!overlap(buffers[i], buffers[j])) continue;
      if (out.offsets[j] - at >= buffers[i].size) break;
      at = std::max(at, out.offsets[j] + buffers[j].size);
    }
    out.offsets[i] = at;
    out.height = std::max(out.height, at + buffers[i].size);
    placed.add(i, out.offsets);
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

std::vector<Lifetime> aligned(std::vector<Lifetime> buffers, std::int64_t alignment) {
  for (Lifetime& b : buffers) b.size = round_up(b.size, alignment);
  return buffers;
}

template <class Key>
MemoryLayout place_by(const std::vector<Lifetime>& buffers, Key key) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(buffers[a]) > key(buffers[b]); });
  return place(buffers, order);
}

// In double: sizes times lives may leave 64 bits, and only the order counts.
double area(const Lifetime& b) {
  return static_cast<double>(b.size) * (static_cast<double>(b.upper) - static_cast<double>(b.lower));
}

MemoryLayout place_by_size(const std::vector<Lifetime>& buffers) {
  return place_by(buffers, [](const Lifetime& b) { return std::pair(b.size, area(b)); });
}

// Below `capacity`, within the budget. The searches differ in which problems they find easy, and each either
// ends soon or hardly ever: many short ones find more than a long one.
bool search(const PackingProblem& problem, std::int64_t capacity, SearchBudget& budget,
            std::vector<std::int64_t>& offsets) {
  struct Rule {
    decltype(&search_lowest_block) run;
    const char* order;
  };
  constexpr Rule kRules[] = {{search_lowest_section, "Ta"}, {search_lowest_block, "TWA"},
                             {search_lowest_block, "aw"},   {search_lowest_section, "TWA"},
                             {search_lowest_block, "Ta"},   {search_lowest_section, "aw"},
                             {search_lowest_block, "WAT"},  {search_lowest_section, "TAW"}};
  for (std::int64_t nodes = 1000; !budget.spent(); nodes *= 3)
    for (const Rule& rule : kRules) {
      const SearchEnd end =
          rule.run(problem, rank_blocks(problem, rule.order), capacity, nodes, budget, offsets);
      if (end != SearchEnd::GaveUp) return end == SearchEnd::Found;
    }
  return false;
}

MemoryLayout layout_of(const PackingProblem& problem, const std::vector<Lifetime>& buffers,
                       const std::vector<std::int64_t>& offsets) {
  MemoryLayout out;
  out.offsets.assign(buffers.size(), 0);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::size_t buffer = problem.blocks[i].buffer;
    out.offsets[buffer] = offsets[i];
    out.height = std::max(out.height, offsets[i] + buffers[buffer].size);
  }
  return out;
}

}  // namespace

MemoryLayout plan_by_size(const std::vector<Lifetime>& input, std::int64_t alignment) {
  const std::vector<Lifetime> buffers = aligned(input, alignment);
  MemoryLayout out = place_by_size(buffers);
  out.lower_bound = most_alive(buffers);
  return out;
}

MemoryLayout plan_memory(const std::vector<Lifetime>& input, std::int64_t alignment,
                         const MemoryEffort& effort) {
  const std::vector<Lifetime> buffers = aligned(input, alignment);
  const std::int64_t bound = most_alive(buffers);
  const std::int64_t enough = std::max(bound, effort.enough / alignment * alignment);
  MemoryLayout best = place_by_size(buffers);
  const auto offer = [&](MemoryLayout other) {
    if (other.height < best.height) best = std::move(other);
  };
  if (best.height > enough)
    offer(place_by(buffers, [](const Lifetime& b) { return std::pair(area(b), b.size); }));
  if (best.height > enough)
    offer(place_by(buffers, [](const Lifetime& b) { return std::pair(b.upper - b.lower, b.size); }));
  if (best.height > enough)
    offer(place_by(buffers, [](const Lifetime& b) { return std::pair(-b.lower, b.size); }));
  if (best.height > enough && buffers.size() <= kSearchedBuffers) {
    const PackingProblem problem = make_problem(buffers);
    std::vector<std::int64_t> offsets;
    const auto within = [&](std::int64_t capacity, std::int64_t steps) {
      SearchBudget budget{steps};
      if (!search(problem, capacity, budget, offsets)) return false;
      offer(layout_of(problem, buffers, offsets));
      return true;
    };
    // Half of the effort for what is enough; when that fails, the rest halves the distance to it.
    std::int64_t low = enough;
    if (!within(enough, effort.steps / 2)) {
      constexpr int kHalvings = 6;
      for (int k = 0; k < kHalvings && best.height - low > alignment; ++k) {
        const std::int64_t middle = low + (best.height - low) / 2;
        if (!within(middle, effort.steps / 2 / kHalvings)) low = middle;
      }
    }
  }
  best.lower_bound = bound;
  return best;
}

}  // namespace atc::plan
