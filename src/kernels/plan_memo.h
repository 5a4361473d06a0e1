#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/cube_search.h"

namespace atc::kernels {

/// What the search has found for tasks of this process: `params` (of the task without its tiling) and
/// `operands` say all that the plan depends on besides the chip. Calls `search` for what is not known. The
/// answer never depends on what was asked before; any number of threads may ask.
CubePlan remembered_plan(std::vector<std::int64_t> params, const std::vector<Operand>& operands,
                         const soc::Chip& chip, const std::function<CubePlan()>& search);

}  // namespace atc::kernels
