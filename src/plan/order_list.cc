#include <set>
#include <tuple>

#include "plan/order_methods.h"
#include "plan/order_state.h"

namespace atc::plan {
namespace {

class ListScheduler {
 public:
  ListScheduler(const OrderProblem& problem, ListRule rule)
      : state_(problem), rule_(rule), keys_(problem.tasks.size()), ready_since_(problem.tasks.size(), -1) {
    for (std::size_t t = 0; t < problem.tasks.size(); ++t) update(static_cast<int>(t));
  }

  std::vector<int> run() {
    std::vector<int> order;
    while (!queue_.empty()) {
      const int task = std::get<2>(*queue_.begin());
      queue_.erase(queue_.begin());
      order.push_back(task);
      ++now_;
      state_.run(task, [&](int t) { update(t); });
    }
    return order;
  }

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, int>;

  Key key(int task) const {
    const std::int64_t growth = state_.growth(task);
    if (rule_ == ListRule::Growth || growth <= 0) return {growth, 0, task};
    return {1, -ready_since_[static_cast<std::size_t>(task)], task};
  }

  void update(int task) {
    if (!state_.is_ready(task)) return;
    const std::size_t t = static_cast<std::size_t>(task);
    if (ready_since_[t] < 0)
      ready_since_[t] = now_;
    else
      queue_.erase(keys_[t]);
    keys_[t] = key(task);
    queue_.insert(keys_[t]);
  }

  OrderState state_;
  ListRule rule_;
  std::int64_t now_ = 0;
  std::vector<Key> keys_;                  // [task]: its place in the queue
  std::vector<std::int64_t> ready_since_;  // [task]: -1 before
  std::set<Key> queue_;
};

}  // namespace

std::vector<int> list_schedule(const OrderProblem& problem, ListRule rule) {
  return ListScheduler(problem, rule).run();
}

}  // namespace atc::plan
