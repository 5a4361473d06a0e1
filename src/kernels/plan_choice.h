#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cube_search.h"

namespace atc::kernels {

/// A cube task whose plan is to be chosen: `params` (of the task without its tiling), `operands` and the chip
/// say all that the plan depends on.
struct PlanQuestion {
  std::string_view kernel;  ///< template
  std::vector<std::int64_t> params;
  const std::vector<Operand>& operands;
  const soc::Chip& chip;
  std::function<std::vector<CubePlan>(bool prune)> plans;  ///< see matmul_plans and conv_plans
  std::function<std::int64_t(const CubePlan&)> simulate;   ///< cycles of the longest block
  std::function<Task(const CubePlan&)> task;
};

/// The plan of fewest cycles among the finalists of the search (cube_search.h), remembered for the process:
/// the answer never depends on what was asked before. A plan with no cycles when there is none.
///
/// Where a bank is in use (plan_bank.h), the plan that it has for the task: E10001 when that is none of the
/// task's plans. A bank that tunes gets what it does not have: all plans are simulated, and those of fewest
/// cycles compared by the time of the whole task, with the number of cores that suits each.
StatusOr<CubePlan> choose_plan(const PlanQuestion& question);

/// What names a task in a bank: 64 hexadecimal digits.
std::string plan_key(const PlanQuestion& question);
/// The same of a task that is made; nullopt for templates without plans.
std::optional<std::string> plan_key(const Task& task, const soc::Chip& chip);

}  // namespace atc::kernels
