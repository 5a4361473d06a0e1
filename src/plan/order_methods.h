#pragma once

#include <cstdint>
#include <vector>

#include "plan/order_problem.h"
#include "plan/search_budget.h"

namespace atc::plan {

enum class ListRule : std::uint8_t {
  Growth,  ///< the task after which least more is in use
  Depth,   ///< a task that frees memory; else the one that has become ready last
};

/// List scheduling: of the tasks that are ready, always the first by the rule. About n log n.
std::vector<int> list_schedule(const OrderProblem& problem, ListRule rule);

/// Depth-first search for an order that never has more than `peak` bytes in use. A task that fits and frees
/// as much as it takes is run at once: that can only help what comes later. A set of tasks that have run is
/// looked at once. A step of the budget is one task looked at. Impossible: there is none.
SearchEnd search_order(const OrderProblem& problem, std::int64_t peak, SearchBudget& budget,
                       std::vector<int>& order);

}  // namespace atc::plan
