#include <algorithm>

#include "plan/packing_search.h"

namespace atc::plan {
namespace {

class BlockSearch : private PackingSearch {
 public:
  using PackingSearch::PackingSearch;

  SearchEnd run() { return end(solve(all_blocks(), 0)); }

 private:
  struct Change {
    std::vector<std::int64_t>* of;
    std::size_t index;
    std::int64_t old;
  };

  void set(std::vector<std::int64_t>& of, std::size_t index, std::int64_t value) {
    if (of[index] == value) return;
    trail_.push_back({&of, index, of[index]});
    of[index] = value;
  }

  void undo(std::size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back())
      (*trail_.back().of)[trail_.back().index] = trail_.back().old;
  }

  // The least offset of each block, and from these the floor of each section; false when one does not fit.
  bool propagate(const std::vector<std::size_t>& blocks, std::int64_t from) {
    std::size_t first = problem_.sections, last = 0;
    for (const std::size_t i : blocks) {
      const Block& b = problem_.blocks[i];
      first = std::min(first, b.first);
      last = std::max(last, b.last);
      std::int64_t at = std::max(least_[i], from);
      for (std::size_t s = b.first; s < b.last; ++s) at = std::max(at, floor_[s]);
      set(least_, i, at);
      budget_.steps -= static_cast<std::int64_t>(b.last - b.first);
      if (at > capacity_ - b.size) return false;
    }
    for (std::size_t s = first; s < last; ++s) lowest_[s] = kNone;
    for (const std::size_t i : blocks)
      for (std::size_t s = problem_.blocks[i].first; s < problem_.blocks[i].last; ++s)
        lowest_[s] = std::min(lowest_[s], least_[i]);
    for (std::size_t s = first; s < last; ++s) {
      if (lowest_[s] == kNone) continue;
      set(floor_, s, std::max(floor_[s], lowest_[s]));
      if (floor_[s] > capacity_ - left_[s]) return false;
    }
    return true;
  }

  void place(std::size_t i) {
    const Block& b = problem_.blocks[i];
    offsets_[i] = least_[i];
    for (std::size_t s = b.first; s < b.last; ++s) {
      set(left_, s, left_[s] - b.size);
      set(floor_, s, least_[i] + b.size);
    }
  }

  bool solve(const std::vector<std::size_t>& blocks, std::int64_t from) {
    if (blocks.empty()) return true;
    if (!enter()) return false;
    const std::size_t mark = trail_.size();
    if (propagate(blocks, from)) {
      const auto parts = split_in_time(problem_, blocks);
      const bool found = parts.size() == 1 ? branch(blocks)
                                           : std::all_of(parts.begin(), parts.end(),
                                                         [&](const auto& part) { return solve(part, 0); });
      if (found) return true;
    }
    undo(mark);
    return false;
  }

  bool branch(const std::vector<std::size_t>& blocks) {
    // A block at or above the lowest possible top leaves room below it for that block: no new packing.
    std::int64_t top = kNone;
    for (const std::size_t i : blocks) top = std::min(top, least_[i] + problem_.blocks[i].size);
    std::vector<std::size_t> next;
    for (const std::size_t i : blocks)
      if (least_[i] < top) next.push_back(i);
    std::sort(next.begin(), next.end(), [&](std::size_t x, std::size_t y) {
      return std::pair(least_[x], rank_[x]) < std::pair(least_[y], rank_[y]);
    });
    for (const std::size_t i : next) {
      const std::size_t mark = trail_.size();
      const std::int64_t at = least_[i];
      place(i);
      const Block& b = problem_.blocks[i];
      bool fits = true;
      for (std::size_t s = b.first; s < b.last; ++s) fits = fits && floor_[s] <= capacity_ - left_[s];
      if (fits && solve(without(blocks, i), at)) return true;
      undo(mark);
      if (gave_up()) return false;
    }
    return false;
  }

  std::vector<Change> trail_;
};

}  // namespace

SearchEnd search_lowest_block(const PackingProblem& problem, const std::vector<std::size_t>& rank,
                              std::int64_t capacity, std::int64_t nodes, SearchBudget& budget,
                              std::vector<std::int64_t>& offsets) {
  return BlockSearch(problem, rank, capacity, nodes, budget, offsets).run();
}

}  // namespace atc::plan
