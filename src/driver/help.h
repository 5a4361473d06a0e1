#pragma once

#include <string>
#include <string_view>

#include "atc/base/status.h"

namespace atc::driver {

/// The text of --help: options by group, with defaults, and what this version does not support.
std::string help_text(std::string_view program);
/// The text of --explain=CODE. E10001 for an unknown code, naming the nearest.
StatusOr<std::string> explain_text(std::string_view code);

}  // namespace atc::driver
