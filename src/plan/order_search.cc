#include "plan/order_search.h"

#include <algorithm>
#include <numeric>

#include "plan/order_methods.h"
#include "plan/order_parts.h"

namespace atc::plan {
namespace {

std::vector<int> numbers(std::size_t n) {
  std::vector<int> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// The best order found of one part, its own being the first.
struct Found {
  std::vector<int> order;
  std::int64_t peak = 0;
};

/// Looks for no less than `enough`.
Found improve(const OrderProblem& problem, std::int64_t own_peak, std::int64_t enough, SearchBudget& budget) {
  Found best{numbers(problem.tasks.size()), own_peak};
  const std::int64_t bound = std::max(enough, task_bound(problem));
  const auto offer = [&](std::vector<int> order) {
    const std::int64_t peak = peak_of(problem, order);
    if (peak < best.peak) best = {std::move(order), peak};
  };
  if (best.peak <= bound) return best;
  const OrderProblem backwards = reversed(problem);
  for (const ListRule rule : {ListRule::Growth, ListRule::Depth}) {
    if (best.peak > bound) offer(list_schedule(problem, rule));
    if (best.peak > bound) {
      std::vector<int> order = list_schedule(backwards, rule);
      for (int& t : order) t = static_cast<int>(order.size()) - 1 - t;
      std::reverse(order.begin(), order.end());
      offer(std::move(order));
    }
  }
  std::vector<int> order;
  while (best.peak > bound && search_order(problem, best.peak - 1, budget, order) == SearchEnd::Found)
    offer(std::move(order));
  return best;
}

}  // namespace

ChosenOrder choose_order(const OrderProblem& problem, const OrderEffort& effort) {
  ChosenOrder out;
  out.order = numbers(problem.tasks.size());
  out.peak = out.model_peak = peak_of(problem, out.order);
  out.task_bound = task_bound(problem);
  if (out.peak <= out.task_bound) return out;

  const OrderParts parts(problem);
  std::vector<std::size_t> by_peak(parts.count());
  std::iota(by_peak.begin(), by_peak.end(), std::size_t{0});
  std::stable_sort(by_peak.begin(), by_peak.end(),
                   [&](std::size_t a, std::size_t b) { return parts.peak(a) > parts.peak(b); });
  // The peak of the order is that of its worst part: what cannot be lowered in one need not be in others.
  std::int64_t settled = out.task_bound;
  for (std::size_t part = 0; part < parts.count(); ++part)
    if (parts.size(part) == 1) settled = std::max(settled, parts.peak(part));
  SearchBudget budget{effort.evaluations};
  std::vector<std::vector<int>> improved(parts.count());
  for (const std::size_t part : by_peak) {
    if (parts.peak(part) <= settled) break;
    const Found found = improve(parts.problem(part), parts.peak(part), settled, budget);
    const std::vector<int> tasks = parts.tasks(part);
    for (const int t : found.order) improved[part].push_back(tasks[static_cast<std::size_t>(t)]);
    settled = std::max(settled, found.peak);
  }

  std::vector<int> order;
  for (std::size_t part = 0; part < parts.count(); ++part) {
    const std::vector<int> tasks = improved[part].empty() ? parts.tasks(part) : std::move(improved[part]);
    order.insert(order.end(), tasks.begin(), tasks.end());
  }
  const std::int64_t peak = peak_of(problem, order);
  if (peak < out.peak) {
    out.order = std::move(order);
    out.peak = peak;
  }
  return out;
}

}  // namespace atc::plan
