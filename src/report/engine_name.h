#pragma once

#include <string_view>

#include "plan/plan.h"

namespace atc::report {

/// As reports write it: "AiCore", "AiCpu", "Region".
std::string_view engine_name(plan::Engine engine);

}  // namespace atc::report
