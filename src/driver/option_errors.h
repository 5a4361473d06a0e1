#pragma once

#include <string>
#include <string_view>

#include "atc/base/status.h"

namespace atc::driver {

/// "Value V for parameter --O is invalid. Reason: R" with the given code; `option` without dashes.
Status invalid_value(std::string code, std::string_view option, std::string_view value,
                     std::string_view reason);
/// E10054 for a required option that is missing or empty.
Status missing_option(std::string_view option);

}  // namespace atc::driver
