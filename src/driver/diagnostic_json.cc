#include "driver/diagnostic_json.h"

#include <nlohmann/json.hpp>

#include "atc/base/error_codes.h"

namespace atc::driver {

std::string diagnostic_json(const Diagnostic& diagnostic) {
  const ErrorCode* known = find_error_code(diagnostic.code);
  const auto or_usual = [&](const std::string& text, std::string_view ErrorCode::*usual) {
    return text.empty() && known != nullptr ? std::string(known->*usual) : text;
  };
  const nlohmann::json json = {
      {"severity", diagnostic.code.starts_with('W') ? "warning" : "error"},
      {"code", diagnostic.code},
      {"title", known != nullptr ? std::string(known->title) : std::string()},
      {"message", diagnostic.message},
      {"notes", diagnostic.notes},
      {"possible_cause", or_usual(diagnostic.possible_cause, &ErrorCode::cause)},
      {"solution", or_usual(diagnostic.solution, &ErrorCode::solution)},
      {"context", diagnostic.context},
  };
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace atc::driver
