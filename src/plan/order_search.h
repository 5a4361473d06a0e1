#pragma once

#include <cstdint>
#include <vector>

#include "plan/order_problem.h"

namespace atc::plan {

/// How hard to look for an order that needs less memory.
struct OrderEffort {
  std::int64_t evaluations = 60'000;  ///< tasks looked at as the next; 10^6 are about half a second
};

struct ChosenOrder {
  std::vector<int> order;
  std::int64_t peak = 0;        ///< most bytes in use at once
  std::int64_t model_peak = 0;  ///< of the model's own order
  std::int64_t task_bound = 0;  ///< of every order
};

/// The best order found: never worse than the model's own, and that one unless another needs less. Parts of
/// the order that no task can leave are looked at one by one, those that need most first, by list scheduling
/// in both directions and by a search that is exact where the effort lasts. Deterministic.
ChosenOrder choose_order(const OrderProblem& problem, const OrderEffort& effort = {});

}  // namespace atc::plan
