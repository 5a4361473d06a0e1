#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/memory.h"

namespace atc::plan {

/// A memory problem in the form that the searches work on: time is cut into sections, the moments at which
/// the set of live buffers is maximal. Buffers that share no such moment share none at all.
struct PackingProblem {
  struct Block {
    std::size_t buffer = 0;  ///< index in the input
    std::size_t first = 0;   ///< sections [first, last)
    std::size_t last = 0;
    std::int64_t size = 0;   ///< above 0
    std::int64_t width = 0;  ///< tasks that it is alive
    std::int64_t crowd = 0;  ///< most bytes alive in one of its sections
  };
  std::vector<Block> blocks;
  std::size_t sections = 0;
  std::vector<std::int64_t> live;                    ///< bytes alive, one a section
  std::vector<std::vector<std::size_t>> neighbours;  ///< of each block: those that share a section with it
};

/// Buffers of no bytes or no life are left out: any offset does for them.
PackingProblem make_problem(const std::vector<Lifetime>& buffers);

/// The place of each block in a static order. `keys`, most significant first, all descending: 'T' the crowd,
/// 'W' the width in tasks, 'w' in sections, 'A' and 'a' the size times these widths. Ties keep the input's
/// order.
std::vector<std::size_t> rank_blocks(const PackingProblem& problem, std::string_view keys);

/// Blocks (indices) split where no block of the set crosses from one section to the next; smallest part
/// first.
std::vector<std::vector<std::size_t>> split_in_time(const PackingProblem& problem,
                                                    const std::vector<std::size_t>& blocks);

}  // namespace atc::plan
