#pragma once

#include <cstdint>
#include <vector>

#include "plan/packing_problem.h"

namespace atc::plan {

/// What a search may spend, counted in steps (one section of one buffer looked at) so that the answer does
/// not depend on the machine.
struct SearchBudget {
  std::int64_t steps = 0;
  bool spent() const { return steps <= 0; }
};

enum class SearchEnd { Found, Impossible, GaveUp };

/// Depth-first search for offsets (one a block) below `capacity`. Each buffer is placed on the top of what
/// lies below, in order of offset: the lowest block of the static order `rank` first. Prunes when what is
/// left of a section does not fit above its floor, and splits what is left into parts that share no section.
SearchEnd search_lowest_block(const PackingProblem& problem, const std::vector<std::size_t>& rank,
                              std::int64_t capacity, std::int64_t nodes, SearchBudget& budget,
                              std::vector<std::int64_t>& offsets);

/// The same task by another branching: takes the lowest section, tries each block that could lie there next,
/// then that none does, which costs the section some of its slack. Better where there is little symmetry.
SearchEnd search_lowest_section(const PackingProblem& problem, const std::vector<std::size_t>& rank,
                                std::int64_t capacity, std::int64_t nodes, SearchBudget& budget,
                                std::vector<std::int64_t>& offsets);

}  // namespace atc::plan
