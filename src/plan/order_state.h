#pragma once

#include <cstdint>
#include <vector>

#include "plan/order_problem.h"

namespace atc::plan {

/// A set of tasks that have run, and what that means for the memory of those that have not. Running a task
/// and taking it back costs about as much as the task has buffers and neighbours; the costs of the tasks that
/// are left are kept up to date on the way. Keeps a reference to the problem.
class OrderState {
 public:
  explicit OrderState(const OrderProblem& problem);

  bool done(int task) const { return done_[at(task)]; }
  bool is_ready(int task) const { return !done(task) && waits_for_[at(task)] == 0; }
  std::int64_t live() const { return live_; }  ///< bytes in use after the tasks that have run

  // Of a task that has not run, if it were the next:
  /// bytes in use while it runs;
  std::int64_t bytes_during(int task) const;
  /// bytes in use after it, less those before it;
  std::int64_t growth(int task) const { return begins_[at(task)] - ends_[at(task)]; }
  /// what it updates in place: no buffer occurs twice.
  std::vector<OrderProblem::InPlace> updates(int task) const;

  /// Precondition: is_ready(task). Calls changed(t) for tasks whose growth or readiness may have changed.
  template <class F>
  void run(int task, F changed);
  void run(int task) {
    run(task, [](int) {});
  }
  /// Takes back the task that ran last.
  void take_back(int task);

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  const OrderProblem::Buffer& buffer(int b) const { return problem_.buffers[at(b)]; }
  bool begun(int b) const { return buffer(b).used_before || left_[at(b)] < buffer(b).users.size(); }
  bool ends_with_last_user(int b) const { return !buffer(b).used_after; }
  int last_user(int b) const;

  const OrderProblem& problem_;
  std::vector<bool> done_;
  std::vector<int> waits_for_;        // [task]: tasks before it that have not run
  std::vector<std::size_t> left_;     // [buffer]: users that have not run
  std::vector<std::int64_t> begins_;  // [task]: bytes of its buffers that are not in use yet
  std::vector<std::int64_t> ends_;    // [task]: bytes of its buffers that no other task will use
  std::int64_t live_ = 0;
};

template <class F>
void OrderState::run(int task, F changed) {
  done_[at(task)] = true;
  for (const int b : problem_.tasks[at(task)].buffers) {
    const OrderProblem::Buffer& buffer = this->buffer(b);
    if (!begun(b)) {
      live_ += buffer.bytes;
      for (const int user : buffer.users) {
        begins_[at(user)] -= buffer.bytes;
        if (!done(user)) changed(user);
      }
    }
    const std::size_t left = --left_[at(b)];
    if (!ends_with_last_user(b)) continue;
    if (left == 0) live_ -= buffer.bytes;
    if (left == 1) {
      const int user = last_user(b);
      ends_[at(user)] += buffer.bytes;
      changed(user);
    }
  }
  for (const int next : problem_.tasks[at(task)].after)
    if (--waits_for_[at(next)] == 0) changed(next);
}

}  // namespace atc::plan
