#pragma once

#include <vector>

#include "atc/base/status.h"
#include "driver/command_line.h"
#include "driver/input_shape.h"

namespace atc::driver {

/// E10055 naming every option that is set to something without effect here that would change the result.
Status check_supported(const CommandLine& line, const std::vector<InputShape>& shapes);
/// One W10001 for each option that is set, harmless and without effect.
std::vector<Diagnostic> ignored_options(const CommandLine& line);

}  // namespace atc::driver
