#include "plan/order_problem.h"

#include <algorithm>
#include <map>
#include <set>

#include "plan/order_state.h"

namespace atc::plan {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The most that updates in place can spare the task in any order.
std::int64_t most_in_place(const OrderProblem& problem, const OrderProblem::Task& task) {
  std::vector<OrderProblem::InPlace> possible;
  for (const OrderProblem::InPlace& pair : task.in_place)
    if (!problem.buffers[at(pair.from)].used_after && !problem.buffers[at(pair.to)].used_before)
      possible.push_back(pair);
  std::int64_t bytes = 0;
  for (const OrderProblem::InPlace& pair : match(possible)) bytes += problem.buffers[at(pair.to)].bytes;
  return bytes;
}

/// Kuhn's algorithm: gives `pairs[i].from` a partner, if need be by giving another one's a new one.
class Matching {
 public:
  explicit Matching(const std::vector<OrderProblem::InPlace>& pairs) : pairs_(pairs) {}

  std::map<int, int> run() {
    std::set<int> sources;
    for (const OrderProblem::InPlace& pair : pairs_) sources.insert(pair.from);
    for (const int from : sources) {
      visited_.clear();
      place(from);
    }
    return from_of_;
  }

 private:
  bool place(int from) {
    for (const OrderProblem::InPlace& pair : pairs_) {
      if (pair.from != from || !visited_.insert(pair.to).second) continue;
      const auto taken = from_of_.find(pair.to);
      if (taken != from_of_.end() && !place(taken->second)) continue;
      from_of_[pair.to] = from;
      return true;
    }
    return false;
  }

  const std::vector<OrderProblem::InPlace>& pairs_;
  std::map<int, int> from_of_;
  std::set<int> visited_;
};

}  // namespace

std::vector<OrderProblem::InPlace> match(const std::vector<OrderProblem::InPlace>& pairs) {
  if (pairs.size() < 2) return pairs;
  std::vector<OrderProblem::InPlace> out;
  for (const auto& [to, from] : Matching(pairs).run()) out.push_back({from, to});
  return out;
}

OrderProblem reversed(const OrderProblem& problem) {
  OrderProblem out = problem;
  const int last = static_cast<int>(problem.tasks.size()) - 1;
  const auto turn = [&](std::vector<int>& tasks) {
    for (int& t : tasks) t = last - t;
    std::reverse(tasks.begin(), tasks.end());
  };
  std::reverse(out.tasks.begin(), out.tasks.end());
  for (OrderProblem::Task& task : out.tasks) {
    std::swap(task.before, task.after);
    turn(task.before);
    turn(task.after);
    for (OrderProblem::InPlace& pair : task.in_place) std::swap(pair.from, pair.to);
  }
  for (OrderProblem::Buffer& buffer : out.buffers) {
    std::swap(buffer.used_before, buffer.used_after);
    turn(buffer.users);
  }
  return out;
}

std::int64_t peak_of(const OrderProblem& problem, const std::vector<int>& order) {
  OrderState state(problem);
  std::int64_t peak = state.live();
  for (const int t : order) {
    peak = std::max(peak, state.bytes_during(t));
    state.run(t);
  }
  return peak;
}

std::int64_t task_bound(const OrderProblem& problem) {
  std::int64_t always = problem.base, most = 0;
  for (const OrderProblem::Buffer& b : problem.buffers)
    if (b.used_before && b.used_after) always += b.bytes;
  for (const OrderProblem::Task& task : problem.tasks) {
    std::int64_t bytes = -most_in_place(problem, task);
    for (const int b : task.buffers) {
      const OrderProblem::Buffer& buffer = problem.buffers[at(b)];
      if (!buffer.used_before || !buffer.used_after) bytes += buffer.bytes;
    }
    most = std::max(most, bytes);
  }
  return always + most;
}

bool is_legal(const OrderProblem& problem, const std::vector<int>& order) {
  if (order.size() != problem.tasks.size()) return false;
  std::vector<bool> seen(order.size(), false);
  for (const int t : order) {
    if (t < 0 || at(t) >= seen.size() || seen[at(t)]) return false;
    for (const int earlier : problem.tasks[at(t)].before)
      if (!seen[at(earlier)]) return false;
    seen[at(t)] = true;
  }
  return true;
}

}  // namespace atc::plan
