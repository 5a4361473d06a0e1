#pragma once

#include <cstdint>
#include <vector>

#include "plan/order_problem.h"

namespace atc::plan {

/// An order cut into parts that every legal order could run one after the other: at a task that each other
/// one comes before or after. Two kinds of tasks do not count as others, as one place is the best for them:
/// what waits for nothing and feeds one task runs right before it, what only one task feeds and nothing waits
/// for, and which takes no memory, right behind it. Near linear.
class OrderParts {
 public:
  /// Keeps a reference to the problem.
  explicit OrderParts(const OrderProblem& problem);

  std::size_t count() const { return first_.size() - 1; }
  std::size_t size(std::size_t part) const { return first_[part + 1] - first_[part]; }
  /// Most bytes in use in a part, the tasks in the order of tasks().
  std::int64_t peak(std::size_t part) const { return peak_[part]; }
  /// The tasks of a part, in a legal order.
  std::vector<int> tasks(std::size_t part) const;
  /// A part as a problem of its own, its tasks numbered as they stand in tasks().
  OrderProblem problem(std::size_t part) const;

 private:
  void line_up();
  void measure();
  bool feeds_one(const OrderProblem::Task& task) const;
  bool drains_one(const OrderProblem::Task& task) const;
  std::vector<bool> cuts(const std::vector<int>& line) const;

  const OrderProblem& problem_;
  std::vector<int> order_;
  std::vector<std::size_t> first_;  // [part]: where it begins in the order; then the end
  std::vector<std::size_t> place_;  // [task]
  std::vector<std::int64_t> peak_;  // [part]
  std::vector<std::int64_t> live_;  // [part]: bytes in use where it begins
};

}  // namespace atc::plan
