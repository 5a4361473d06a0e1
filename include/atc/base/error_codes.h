#pragma once

#include <span>
#include <string_view>

namespace atc {

/// What a diagnostic's code stands for. Texts are static.
struct ErrorCode {
  std::string_view code;      ///< "E10001"; warnings begin with W
  std::string_view title;     ///< printed before the code: "Invalid_Argument(E10001): ..."
  std::string_view meaning;   ///< one sentence for `--explain`
  std::string_view cause;     ///< usual cause, "" when the message says it all
  std::string_view solution;  ///< usual remedy, "" when the message says it all
};

/// Every code, sorted; src/base/error_codes.def is the list.
std::span<const ErrorCode> error_codes();
/// nullptr when there is no such code.
const ErrorCode* find_error_code(std::string_view code);

}  // namespace atc
