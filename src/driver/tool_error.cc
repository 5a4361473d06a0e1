#include "driver/tool_error.h"

#include "atc/base/strings.h"

namespace atc::driver {

std::string tool_error_text(std::string_view tool, const Status& status) {
  const Diagnostic& d = status.diagnostic();
  std::string out = std::string(tool) + ": error: " + d.code + ": " + printable(d.message) + "\n";
  for (const std::string& note : d.notes) out += "  note: " + printable(note) + "\n";
  for (const std::string& frame : d.context) out += "  while " + printable(frame) + "\n";
  if (!d.possible_cause.empty()) out += "  possible cause: " + printable(d.possible_cause) + "\n";
  if (!d.solution.empty()) out += "  solution: " + printable(d.solution) + "\n";
  return out;
}

}  // namespace atc::driver
