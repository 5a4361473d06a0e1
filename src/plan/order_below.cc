#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

#include "plan/order_methods.h"
#include "plan/order_state.h"

namespace atc::plan {
namespace {

// SplitMix64: a key for each task; the sum of keys by exclusive or stands for a set of tasks. Two sets that
// collide would cost an order that is not found, never a wrong one.
std::uint64_t key_of(int task) {
  std::uint64_t z = (static_cast<std::uint64_t>(task) + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

class OrderSearch {
 public:
  OrderSearch(const OrderProblem& problem, std::int64_t peak, SearchBudget& budget)
      : problem_(problem), state_(problem), peak_(peak), budget_(budget) {
    for (std::size_t t = 0; t < problem.tasks.size(); ++t)
      if (state_.is_ready(static_cast<int>(t))) ready_.insert(static_cast<int>(t));
  }

  SearchEnd run(std::vector<int>& order) {
    if (state_.live() > peak_) return SearchEnd::Impossible;
    std::vector<Branch> branches = {{choices(), 0}};
    while (order_.size() < problem_.tasks.size()) {
      if (budget_.spent()) return SearchEnd::GaveUp;
      Branch& last = branches.back();
      if (last.next < last.tasks.size()) {
        run_task(last.tasks[last.next++]);
        branches.push_back({choices(), 0});
        continue;
      }
      branches.pop_back();
      if (branches.empty()) return SearchEnd::Impossible;
      take_back();
    }
    order = order_;
    return SearchEnd::Found;
  }

 private:
  struct Branch {
    std::vector<int> tasks;
    std::size_t next = 0;
  };

  /// What may run next, the most promising first; nothing where the same set has been seen.
  std::vector<int> choices() {
    std::vector<std::tuple<std::int64_t, std::int64_t, int>> fitting;
    for (const int t : ready_) {
      --budget_.steps;
      const std::int64_t during = state_.bytes_during(t);
      if (during > peak_) continue;
      const std::int64_t growth = state_.growth(t);
      if (growth <= 0) return {t};
      fitting.emplace_back(growth, during, t);
    }
    if (fitting.size() > 1 && !seen_.insert(set_).second) return {};
    std::sort(fitting.begin(), fitting.end());
    std::vector<int> tasks;
    for (const auto& choice : fitting) tasks.push_back(std::get<2>(choice));
    return tasks;
  }

  void run_task(int task) {
    state_.run(task, [&](int t) {
      if (state_.is_ready(t)) ready_.insert(t);
    });
    ready_.erase(task);
    set_ ^= key_of(task);
    order_.push_back(task);
  }

  void take_back() {
    const int task = order_.back();
    for (const int next : problem_.tasks[static_cast<std::size_t>(task)].after)
      if (state_.is_ready(next)) ready_.erase(next);
    state_.take_back(task);
    ready_.insert(task);
    set_ ^= key_of(task);
    order_.pop_back();
  }

  const OrderProblem& problem_;
  OrderState state_;
  std::int64_t peak_;
  SearchBudget& budget_;
  std::set<int> ready_;
  std::vector<int> order_;
  std::uint64_t set_ = 0;
  std::unordered_set<std::uint64_t> seen_;  // sets with several choices that have been looked at
};

}  // namespace

SearchEnd search_order(const OrderProblem& problem, std::int64_t peak, SearchBudget& budget,
                       std::vector<int>& order) {
  return OrderSearch(problem, peak, budget).run(order);
}

}  // namespace atc::plan
