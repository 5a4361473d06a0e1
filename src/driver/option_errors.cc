#include "driver/option_errors.h"

namespace atc::driver {

Status invalid_value(std::string code, std::string_view option, std::string_view value,
                     std::string_view reason) {
  std::string message = "Value " + std::string(value) + " for parameter --" + std::string(option) +
                        " is invalid. Reason: " + std::string(reason);
  if (message.back() != '.' && message.back() != '?') message += '.';
  return Status::error(std::move(code), std::move(message));
}

Status missing_option(std::string_view option) {
  return Status::error("E10054",
                       "Required parameter --" + std::string(option) +
                           " is missing or empty. Values that contain ; or blanks need quotes in a shell.");
}

}  // namespace atc::driver
