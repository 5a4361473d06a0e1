#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/plan.h"

namespace atc::report {

/// The "memory" section of the compilation report: bytes of the arena (peak_bytes), the most in use at once
/// in this order and in the model's own, and the most that one task needs (the bounds); which task that is at
/// and what is in use there, largest first; and the plan itself, by offset, each tensor with the tasks that
/// use it first and last (by place and name) and, when it is written in the place of another, which. Sizes
/// are rounded up to the arena's alignment. Precondition: the plan was just built.
nlohmann::json memory_json(const plan::Plan& plan);

}  // namespace atc::report
