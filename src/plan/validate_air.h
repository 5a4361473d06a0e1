#pragma once

#include <string>

#include "atc/base/status.h"
#include "plan/plan.h"

namespace atc::plan {

/// Checks the .air text of an AI CPU task: it parses, holds one node of a known operator that its schema
/// accepts, and its inputs and outputs have the dtypes and shapes of the task's tensors, in order.
/// Precondition: the task's tensor indices are in range. E10041 naming `label`.
Status validate_air(const Plan& plan, const PlanTask& task, const std::string& label);

}  // namespace atc::plan
