#include "plan/order_parts.h"

#include <algorithm>
#include <map>

#include "plan/order_state.h"

namespace atc::plan {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

OrderParts::OrderParts(const OrderProblem& problem) : problem_(problem) {
  line_up();
  measure();
}

std::vector<int> OrderParts::tasks(std::size_t part) const {
  const auto begin = order_.begin();
  return {begin + static_cast<std::ptrdiff_t>(first_[part]),
          begin + static_cast<std::ptrdiff_t>(first_[part + 1])};
}

// Run late it keeps what it makes for a shorter time, and takes no more while it runs than the task it feeds.
bool OrderParts::feeds_one(const OrderProblem::Task& task) const {
  return task.before.empty() && task.after.size() == 1 &&
         std::all_of(task.buffers.begin(), task.buffers.end(), [&](int b) {
           const OrderProblem::Buffer& buffer = problem_.buffers[at(b)];
           return !buffer.used_before && (buffer.users.size() > 1 || buffer.used_after);
         });
}

// It begins no buffer, as the task before it uses all of its own.
bool OrderParts::drains_one(const OrderProblem::Task& task) const {
  if (!task.after.empty() || task.before.size() != 1) return false;
  const std::vector<int>& known = problem_.tasks[at(task.before[0])].buffers;
  return std::includes(known.begin(), known.end(), task.buffers.begin(), task.buffers.end());
}

// The tasks of a line, by place, that each other one of the line comes before or after: those behind it have
// a task before them that is no earlier than it, those in front of it one behind them that is no later.
std::vector<bool> OrderParts::cuts(const std::vector<int>& line) const {
  const int n = static_cast<int>(line.size());
  std::vector<int> place(problem_.tasks.size(), -1);
  for (int i = 0; i < n; ++i) place[at(line[at(i)])] = i;
  std::vector<bool> is_cut(line.size(), true);
  int latest = -1;  // where all in front of i have met a task behind them
  for (int i = 0; i < n; ++i) {
    if (latest > i) is_cut[at(i)] = false;
    int next = n;
    for (const int t : problem_.tasks[at(line[at(i)])].after)
      if (place[at(t)] >= 0) next = std::min(next, place[at(t)]);
    latest = std::max(latest, next);
  }
  int earliest = n;
  for (int i = n; i-- > 0;) {
    if (earliest < i) is_cut[at(i)] = false;
    int last = -1;
    for (const int t : problem_.tasks[at(line[at(i)])].before) last = std::max(last, place[at(t)]);
    earliest = std::min(earliest, last);
  }
  return is_cut;
}

void OrderParts::line_up() {
  const std::size_t n = problem_.tasks.size();
  std::vector<std::vector<int>> feeders(n), drains(n);
  std::vector<bool> attached(n, false);
  for (std::size_t t = 0; t < n; ++t)
    if (feeds_one(problem_.tasks[t])) {
      feeders[at(problem_.tasks[t].after[0])].push_back(static_cast<int>(t));
      attached[t] = true;
    }
  for (std::size_t t = 0; t < n; ++t)
    if (drains_one(problem_.tasks[t]) && !attached[at(problem_.tasks[t].before[0])]) {
      drains[at(problem_.tasks[t].before[0])].push_back(static_cast<int>(t));
      attached[t] = true;
    }
  std::vector<int> line;
  for (std::size_t t = 0; t < n; ++t)
    if (!attached[t]) line.push_back(static_cast<int>(t));
  const std::vector<bool> is_cut = cuts(line);
  bool open = false;  // the part that the order ends with takes more tasks
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_cut[i] || !open) first_.push_back(order_.size());
    open = !is_cut[i];
    const std::vector<int>& in = feeders[at(line[i])];
    const std::vector<int>& out = drains[at(line[i])];
    order_.insert(order_.end(), in.begin(), in.end());
    order_.push_back(line[i]);
    order_.insert(order_.end(), out.begin(), out.end());
  }
  first_.push_back(order_.size());
}

void OrderParts::measure() {
  place_.resize(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) place_[at(order_[i])] = i;
  OrderState state(problem_);
  for (std::size_t part = 0; part < count(); ++part) {
    live_.push_back(state.live());
    std::int64_t peak = state.live();
    for (const int t : tasks(part)) {
      peak = std::max(peak, state.bytes_during(t));
      state.run(t);
    }
    peak_.push_back(peak);
  }
}

OrderProblem OrderParts::problem(std::size_t part) const {
  const std::size_t first = first_[part], end = first_[part + 1];
  OrderProblem out;
  out.base = live_[part];
  std::map<int, int> new_buffer;
  const auto buffer = [&](int b) {
    const auto [known, is_new] = new_buffer.emplace(b, static_cast<int>(out.buffers.size()));
    if (!is_new) return known->second;
    const OrderProblem::Buffer& old = problem_.buffers[at(b)];
    OrderProblem::Buffer made{old.bytes, {}, old.used_before, old.used_after};
    for (const int user : old.users) {
      made.used_before = made.used_before || place_[at(user)] < first;
      made.used_after = made.used_after || place_[at(user)] >= end;
    }
    if (made.used_before) out.base -= made.bytes;
    out.buffers.push_back(made);
    return known->second;
  };
  const auto keep = [&](const std::vector<int>& tasks) {
    std::vector<int> kept;
    for (const int t : tasks)
      if (place_[at(t)] >= first && place_[at(t)] < end)
        kept.push_back(static_cast<int>(place_[at(t)] - first));
    std::sort(kept.begin(), kept.end());
    return kept;
  };
  for (std::size_t i = first; i < end; ++i) {
    const OrderProblem::Task& old = problem_.tasks[at(order_[i])];
    OrderProblem::Task task;
    task.before = keep(old.before);
    task.after = keep(old.after);
    for (const int b : old.buffers) {
      task.buffers.push_back(buffer(b));
      out.buffers[at(task.buffers.back())].users.push_back(static_cast<int>(i - first));
    }
    std::sort(task.buffers.begin(), task.buffers.end());
    for (const OrderProblem::InPlace& pair : old.in_place)
      task.in_place.push_back({new_buffer.at(pair.from), new_buffer.at(pair.to)});
    out.tasks.push_back(std::move(task));
  }
  return out;
}

}  // namespace atc::plan
