#pragma once

#include <vector>

#include "plan/order_problem.h"
#include "plan/plan.h"

namespace atc::plan {

/// The tasks of a plan as far as memory and order are concerned.
struct TaskMemory {
  OrderProblem problem;      ///< its buffers are those of the arena, `base` is 0
  std::vector<int> tensors;  ///< [buffer]: the tensor that it holds
};

/// Bytes that a tensor takes in the arena: whole cache lines.
std::int64_t arena_bytes(const PlanTensor& tensor);

/// The bytes that a tensor shows: those of tensor `root`, which shows its own, from `offset` on.
struct Shown {
  int root = -1;
  std::int64_t offset = 0;
};

/// A task is before another when it writes bytes that the other reads or writes, or reads bytes that the
/// other writes, in the arena, an output or among the runtime's own tensors. AI CPU tasks and regions read
/// and write their tensors as a whole, and update nothing in place. Tensors with `apart[t]` take part in the
/// order but are no buffers.
TaskMemory task_memory(const Plan& plan, const std::vector<Shown>& shown, const std::vector<bool>& apart);

}  // namespace atc::plan
