#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/task_memory.h"

namespace atc::plan {

/// How the activation arena is planned.
struct MemoryOptions {
  /// False: every tensor has memory of its own, and tasks stay in the model's order.
  bool reuse = true;
  /// Tasks, by their name, their type or an ONNX node that they stand for: what they write has memory of its
  /// own.
  std::vector<std::string> no_reuse = {};
  /// Another name of a task's type, by the name of the task.
  std::map<std::string, std::string> types = {};
};

/// Puts the plan's tasks in the order that needs least memory, gives the tensors of the arena their offsets
/// and sets arena_bytes and `memory`. Views go where the
/// tensors lie whose bytes they show. Deterministic.
void plan_arena(Plan& plan, const std::vector<Shown>& shown, const MemoryOptions& options);

}  // namespace atc::plan
