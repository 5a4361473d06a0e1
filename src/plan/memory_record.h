#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace atc::plan {

/// How the activation arena of a plan came about, for reports. Sizes are in bytes, rounded up to the arena's
/// alignment; tasks are given by their place in the plan.
struct MemoryRecord {
  /// A tensor of the arena. Views are no tensors of their own here.
  struct Buffer {
    int tensor = -1;
    std::int64_t offset = 0, bytes = 0;
    int first = -1, last = -1;  ///< tasks that use it
    int in_place_of = -1;       ///< the tensor whose last reader writes this one where that is; -1: none
  };
  std::vector<Buffer> buffers;  ///< by offset, then by first task
  std::int64_t peak = 0;        ///< bytes of the arena
  /// Most bytes in use at once, updates in place counted once: no layout for this order is smaller.
  std::int64_t bound = 0;
  std::int64_t model_order_bound = 0;  ///< the same of the order that the model has; never below `bound`
  std::int64_t task_bound = 0;         ///< most bytes that one task needs: no order needs less
  int moved_tasks = 0;                 ///< tasks that are not where the model has them
  int peak_task = -1;                  ///< the first at which `bound` bytes are in use; -1: there are none
  std::vector<int> peak_tensors;       ///< in use there, largest first; of an update in place the result
  std::vector<std::string> unknown;    ///< of MemoryOptions::no_reuse: what no task is called
};

}  // namespace atc::plan
