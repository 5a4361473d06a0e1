#pragma once

#include <string>

#include "atc/base/status.h"

namespace atc::driver {

/// One line: {"code", "context", "message", "notes", "possible_cause", "severity", "solution", "title"};
/// bytes that are no UTF-8 are replaced.
std::string diagnostic_json(const Diagnostic& diagnostic);

}  // namespace atc::driver
