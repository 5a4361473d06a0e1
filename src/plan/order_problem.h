#pragma once

#include <cstdint>
#include <vector>

namespace atc::plan {

/// Tasks that are to be put in order, and the buffers that they use: all that the memory of an order depends
/// on. Tasks are numbered in an order that is legal, the model's own.
struct OrderProblem {
  /// The task may write buffer `to` where buffer `from` is, if this is the last use of `from` and the first
  /// of `to`. Both have the same size.
  struct InPlace {
    int from = -1, to = -1;
  };
  struct Task {
    std::vector<int> buffers;  ///< that it reads or writes, ascending, each once
    std::vector<InPlace> in_place;
    std::vector<int> before;  ///< tasks that have to run earlier, ascending, each once
    std::vector<int> after;   ///< those that have to run later
  };
  /// In use from its first user to its last.
  struct Buffer {
    std::int64_t bytes = 0;                        ///< as much as it takes in the arena: aligned
    std::vector<int> users;                        ///< tasks, ascending, each once
    bool used_before = false, used_after = false;  ///< by tasks that run before or after all of these
  };
  std::vector<Task> tasks;
  std::vector<Buffer> buffers;
  std::int64_t base = 0;  ///< bytes in use all the time, beside the buffers
};

/// The same tasks from the last to the first: an order of one problem, reversed, needs the same memory in the
/// other.
OrderProblem reversed(const OrderProblem& problem);

/// As many of the pairs as can be had at once: no buffer occurs twice. Buffers of pairs that share one have
/// the same size, so these are also the most bytes.
std::vector<OrderProblem::InPlace> match(const std::vector<OrderProblem::InPlace>& pairs);

/// The most bytes in use at once when the tasks run in this order, after updates in place.
std::int64_t peak_of(const OrderProblem& problem, const std::vector<int>& order);

/// A bound of all orders: the most bytes that one task needs, its inputs and outputs after updates in place,
/// and what is in use all the time.
std::int64_t task_bound(const OrderProblem& problem);

/// `order` is a permutation of the tasks in which each comes after those before it.
bool is_legal(const OrderProblem& problem, const std::vector<int>& order);

}  // namespace atc::plan
