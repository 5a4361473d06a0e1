#pragma once

#include <cstdint>
#include <vector>

#include "plan/packing_problem.h"
#include "plan/search_budget.h"

namespace atc::plan {

/// Depth-first search for offsets (one a block) below `capacity`. Each buffer is placed on the top of what
/// lies below, in order of offset: the lowest block of the static order `rank` first. Prunes when what is
/// left of a section does not fit above its floor, and splits what is left into parts that share no section.
/// A step of the budget is one section of one buffer looked at.
SearchEnd search_lowest_block(const PackingProblem& problem, const std::vector<std::size_t>& rank,
                              std::int64_t capacity, std::int64_t nodes, SearchBudget& budget,
                              std::vector<std::int64_t>& offsets);

/// The same task by another branching: takes the lowest section, tries each block that could lie there next,
/// then that none does, which costs the section some of its slack. Better where there is little symmetry.
SearchEnd search_lowest_section(const PackingProblem& problem, const std::vector<std::size_t>& rank,
                                std::int64_t capacity, std::int64_t nodes, SearchBudget& budget,
                                std::vector<std::int64_t>& offsets);

}  // namespace atc::plan
