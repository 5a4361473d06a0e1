#include "plan/order_state.h"

#include <algorithm>

namespace atc::plan {

OrderState::OrderState(const OrderProblem& problem)
    : problem_(problem),
      done_(problem.tasks.size(), false),
      waits_for_(problem.tasks.size(), 0),
      left_(problem.buffers.size(), 0),
      begins_(problem.tasks.size(), 0),
      ends_(problem.tasks.size(), 0),
      live_(problem.base) {
  for (std::size_t t = 0; t < problem.tasks.size(); ++t)
    waits_for_[t] = static_cast<int>(problem.tasks[t].before.size());
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const OrderProblem::Buffer& buffer = problem.buffers[b];
    left_[b] = buffer.users.size();
    if (buffer.used_before)
      live_ += buffer.bytes;
    else
      for (const int user : buffer.users) begins_[at(user)] += buffer.bytes;
    if (buffer.users.size() == 1 && !buffer.used_after) ends_[at(buffer.users[0])] += buffer.bytes;
  }
}

int OrderState::last_user(int b) const {
  const std::vector<int>& users = buffer(b).users;
  return *std::find_if(users.begin(), users.end(), [&](int user) { return !done(user); });
}

std::vector<OrderProblem::InPlace> OrderState::updates(int task) const {
  std::vector<OrderProblem::InPlace> possible;
  for (const OrderProblem::InPlace& pair : problem_.tasks[at(task)].in_place)
    if (!begun(pair.to) && left_[at(pair.from)] == 1 && ends_with_last_user(pair.from))
      possible.push_back(pair);
  return match(possible);
}

std::int64_t OrderState::bytes_during(int task) const {
  std::int64_t bytes = live_ + begins_[at(task)];
  if (problem_.tasks[at(task)].in_place.empty()) return bytes;
  for (const OrderProblem::InPlace& pair : updates(task)) bytes -= buffer(pair.to).bytes;
  return bytes;
}

void OrderState::take_back(int task) {
  const OrderProblem::Task& which = problem_.tasks[at(task)];
  for (const int next : which.after) ++waits_for_[at(next)];
  for (std::size_t i = which.buffers.size(); i-- > 0;) {
    const int b = which.buffers[i];
    const OrderProblem::Buffer& buffer = this->buffer(b);
    const std::size_t left = left_[at(b)]++;
    if (ends_with_last_user(b)) {
      if (left == 0) live_ += buffer.bytes;
      if (left == 1) ends_[at(last_user(b))] -= buffer.bytes;
    }
    if (begun(b)) continue;
    live_ -= buffer.bytes;
    for (const int user : buffer.users) begins_[at(user)] += buffer.bytes;
  }
  done_[at(task)] = false;
}

}  // namespace atc::plan
