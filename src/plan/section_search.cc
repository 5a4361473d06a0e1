#include <algorithm>
#include <tuple>

#include "plan/packing_search.h"

namespace atc::plan {
namespace {

class SectionSearch : private PackingSearch {
 public:
  SectionSearch(const PackingProblem& problem, const std::vector<std::size_t>& rank, std::int64_t capacity,
                std::int64_t nodes, SearchBudget& budget, std::vector<std::int64_t>& offsets)
      : PackingSearch(problem, rank, capacity, nodes, budget, offsets),
        top_(problem.sections, kNone),
        candidates_(problem.sections, 0),
        rest_(problem.blocks.size(), 0),
        ready_(problem.blocks.size(), 0),
        placed_(problem.blocks.size(), 0) {}

  SearchEnd run() { return end(solve(all_blocks())); }

 private:
  struct Span {
    std::size_t first, last;
  };

  Span span(const std::vector<std::size_t>& blocks) const {
    Span out = {problem_.sections, 0};
    for (const std::size_t i : blocks) {
      out.first = std::min(out.first, problem_.blocks[i].first);
      out.last = std::max(out.last, problem_.blocks[i].last);
    }
    return out;
  }

  // Where a block can lie now: it rests on a placed block (or the ground) as high as its sections' floors,
  // and the other blocks of each section still fit above it. False when it can lie nowhere.
  bool look_at(std::size_t i) {
    const Block& b = problem_.blocks[i];
    std::int64_t at = 0, crowd = 0, gap = kNone;
    for (std::size_t s = b.first; s < b.last; ++s) {
      at = std::max(at, floor_[s]);
      crowd = std::max(crowd, left_[s]);
      gap = std::min(gap, floor_[s]);
    }
    budget_.steps -= static_cast<std::int64_t>(b.last - b.first);
    // It would drop into the room left below: the same packing exists with it there.
    if (gap >= rest_[i] + b.size || at > capacity_ - b.size) return false;
    ready_[i] = rest_[i] == at && at <= capacity_ - crowd ? 1 : 0;
    least_[i] = at;
    for (std::size_t s = b.first; s < b.last; ++s) {
      top_[s] = std::min(top_[s], at + b.size);
      if (ready_[i] != 0) lowest_[s] = std::min(lowest_[s], at);
    }
    return true;
  }

  // A block that cannot lie at its floor rests on one that is not placed yet.
  bool lift(std::size_t i) {
    const Block& b = problem_.blocks[i];
    std::int64_t on = kNone;
    for (std::size_t s = b.first; s < b.last; ++s) on = std::min(on, top_[s]);
    least_[i] = std::max(least_[i], on);
    if (least_[i] > capacity_ - b.size) return false;
    for (std::size_t s = b.first; s < b.last; ++s) lowest_[s] = std::min(lowest_[s], least_[i]);
    return true;
  }

  // Raises the floors of sections to the lowest place that any of their blocks can take.
  bool propagate(const std::vector<std::size_t>& blocks, Span range) {
    constexpr int kPasses = 4;  // later ones seldom find more
    bool raised = true;
    for (int pass = 0; pass < kPasses && raised; ++pass) {
      raised = false;
      for (std::size_t s = range.first; s < range.last; ++s) lowest_[s] = top_[s] = kNone;
      for (const std::size_t i : blocks)
        if (!look_at(i)) return false;
      for (const std::size_t i : blocks)
        if (ready_[i] == 0 && !lift(i)) return false;
      for (std::size_t s = range.first; s < range.last; ++s) {
        if (lowest_[s] == kNone) continue;
        raised = raised || lowest_[s] > floor_[s];
        floor_[s] = std::max(floor_[s], lowest_[s]);
        if (floor_[s] > capacity_ - left_[s]) return false;
      }
    }
    return true;
  }

  void keep_rest(std::size_t i, std::int64_t value) {
    trail_.emplace_back(i, rest_[i]);
    rest_[i] = value;
  }

  void place(std::size_t i, std::int64_t at) {
    const Block& b = problem_.blocks[i];
    offsets_[i] = at;
    placed_[i] = 1;
    for (std::size_t s = b.first; s < b.last; ++s) {
      left_[s] -= b.size;
      floor_[s] = at + b.size;
    }
    for (const std::size_t x : problem_.neighbours[i])
      if (placed_[x] == 0 && rest_[x] < at + b.size) keep_rest(x, at + b.size);
  }

  // Takes back what was placed of these blocks since `mark`; the floors are the caller's.
  void take_back(const std::vector<std::size_t>& blocks, std::size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) rest_[trail_.back().first] = trail_.back().second;
    for (const std::size_t i : blocks) {
      if (placed_[i] == 0) continue;
      placed_[i] = 0;
      for (std::size_t s = problem_.blocks[i].first; s < problem_.blocks[i].last; ++s)
        left_[s] += problem_.blocks[i].size;
    }
  }

  bool solve(const std::vector<std::size_t>& blocks) {
    if (blocks.empty()) return true;
    if (!enter()) return false;
    const Span range = span(blocks);
    const std::vector<std::int64_t> floors(floor_.begin() + static_cast<std::ptrdiff_t>(range.first),
                                           floor_.begin() + static_cast<std::ptrdiff_t>(range.last));
    const std::size_t mark = trail_.size();
    if (propagate(blocks, range)) {
      const auto parts = split_in_time(problem_, blocks);
      if (std::all_of(parts.begin(), parts.end(), [&](const auto& part) { return branch(part); }))
        return true;
      take_back(blocks, mark);
    }
    std::copy(floors.begin(), floors.end(), floor_.begin() + static_cast<std::ptrdiff_t>(range.first));
    return false;
  }

  // The lowest section; of several the one with the fewest choices, then the one with the least slack.
  std::size_t choose(const std::vector<std::size_t>& blocks, Span range) {
    for (std::size_t s = range.first; s < range.last; ++s) candidates_[s] = 0;
    for (const std::size_t i : blocks)
      for (std::size_t s = problem_.blocks[i].first; s < problem_.blocks[i].last; ++s)
        if (ready_[i] != 0 && floor_[s] == least_[i]) ++candidates_[s];
    std::size_t best = range.last;
    const auto key = [&](std::size_t s) {
      const std::int64_t slack = capacity_ - floor_[s] - left_[s];
      return std::tuple(floor_[s], candidates_[s] + (slack > 0 ? 1 : 0), slack);
    };
    for (std::size_t s = range.first; s < range.last; ++s)
      if (left_[s] > 0 && (best == range.last || key(s) < key(best))) best = s;
    return best;
  }

  bool branch(const std::vector<std::size_t>& blocks) {
    const Span range = span(blocks);
    const std::size_t section = choose(blocks, range);
    const std::int64_t at = floor_[section];
    std::vector<std::size_t> next;
    for (const std::size_t i : blocks)
      if (ready_[i] != 0 && least_[i] == at && problem_.blocks[i].first <= section &&
          section < problem_.blocks[i].last)
        next.push_back(i);
    std::sort(next.begin(), next.end(), [&](std::size_t x, std::size_t y) { return rank_[x] < rank_[y]; });
    const std::vector<std::int64_t> floors(floor_.begin() + static_cast<std::ptrdiff_t>(range.first),
                                           floor_.begin() + static_cast<std::ptrdiff_t>(range.last));
    const auto restore = [&] {
      std::copy(floors.begin(), floors.end(), floor_.begin() + static_cast<std::ptrdiff_t>(range.first));
    };
    for (const std::size_t i : next) {
      const std::size_t mark = trail_.size();
      place(i, at);
      if (solve(without(blocks, i))) return true;
      take_back({i}, mark);
      restore();
      if (gave_up()) return false;
    }
    if (at >= capacity_ - left_[section]) return false;
    floor_[section] = at + 1;  // propagate() raises it to the next place of a block
    if (solve(blocks)) return true;
    restore();
    return false;
  }

  std::vector<std::int64_t> top_;  // scratch of propagate(): least end of a section's blocks
  std::vector<std::int64_t> candidates_;
  std::vector<std::int64_t> rest_;  // of each block: the top of the placed blocks that it meets
  std::vector<char> ready_;         // of each block: it can be placed at least_ now
  std::vector<char> placed_;
  std::vector<std::pair<std::size_t, std::int64_t>> trail_;  // old values of rest_
};

}  // namespace

SearchEnd search_lowest_section(const PackingProblem& problem, const std::vector<std::size_t>& rank,
                                std::int64_t capacity, std::int64_t nodes, SearchBudget& budget,
                                std::vector<std::int64_t>& offsets) {
  return SectionSearch(problem, rank, capacity, nodes, budget, offsets).run();
}

}  // namespace atc::plan
