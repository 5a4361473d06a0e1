#pragma once

#include <string>
#include <string_view>

#include "atc/base/status.h"

namespace atc::driver {

/// A failed Status as the tools other than `atc` print it on stderr: one line with the code, then its
/// notes, context, cause and remedy, indented.
std::string tool_error_text(std::string_view tool, const Status& status);

}  // namespace atc::driver
