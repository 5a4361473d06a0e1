#pragma once

#include <vector>

#include "plan/plan.h"

namespace atc::report {

/// The plan tensors that a task reads (or writes when `outputs`), in the order of its operands.
std::vector<int> tensors_of(const plan::PlanTask& task, bool outputs);

}  // namespace atc::report
