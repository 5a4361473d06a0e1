#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "plan/memory_search.h"

namespace atc::plan {

/// What the depth-first searches share: the problem, their limits, and floors of sections.
class PackingSearch {
 public:
  PackingSearch(const PackingProblem& problem, const std::vector<std::size_t>& rank, std::int64_t capacity,
                std::int64_t nodes, SearchBudget& budget, std::vector<std::int64_t>& offsets)
      : problem_(problem),
        rank_(rank),
        capacity_(capacity),
        budget_(budget),
        offsets_(offsets),
        floor_(problem.sections, 0),
        left_(problem.live),
        lowest_(problem.sections, 0),
        least_(problem.blocks.size(), 0),
        nodes_(nodes) {
    offsets_.assign(problem.blocks.size(), 0);
  }

 protected:
  using Block = PackingProblem::Block;
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  std::vector<std::size_t> all_blocks() const {
    std::vector<std::size_t> all(problem_.blocks.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  static std::vector<std::size_t> without(const std::vector<std::size_t>& blocks, std::size_t i) {
    std::vector<std::size_t> rest;
    rest.reserve(blocks.size() - 1);
    std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(rest),
                 [i](std::size_t x) { return x != i; });
    return rest;
  }

  /// Counts a node; false when there are no more: the search gives up.
  bool enter() {
    if (--nodes_ < 0 || budget_.spent()) gave_up_ = true;
    return !gave_up_;
  }
  bool gave_up() const { return gave_up_; }
  SearchEnd end(bool found) const {
    return found ? SearchEnd::Found : gave_up_ ? SearchEnd::GaveUp : SearchEnd::Impossible;
  }

  const PackingProblem& problem_;
  const std::vector<std::size_t>& rank_;
  const std::int64_t capacity_;
  SearchBudget& budget_;
  std::vector<std::int64_t>& offsets_;
  std::vector<std::int64_t> floor_;   // of each section: nothing more lies below
  std::vector<std::int64_t> left_;    // of each section: bytes not placed yet
  std::vector<std::int64_t> lowest_;  // of each section: scratch of propagate()
  std::vector<std::int64_t> least_;   // of each block: its least offset

 private:
  std::int64_t nodes_;
  bool gave_up_ = false;
};

}  // namespace atc::plan
