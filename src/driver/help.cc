#include "driver/help.h"

#include <vector>

#include "atc/base/error_codes.h"
#include "atc/base/strings.h"
#include "driver/option_errors.h"
#include "driver/option_table.h"

namespace atc::driver {
namespace {

bool is_basic(OptionGroup group) {
  return group == OptionGroup::General || group == OptionGroup::Input || group == OptionGroup::Output ||
         group == OptionGroup::Target;
}

std::string line_of(const OptionSpec& spec) {
  std::string line = "  --" + std::string(spec.name);
  line.append(line.size() < 36 ? 36 - line.size() : 1, ' ');
  line += spec.help;
  if (spec.kind == OptionKind::Choice && spec.help.size() < 60)
    line += " One of " + join(split(spec.choices, '|'), ", ") + ".";
  if (spec.kind != OptionKind::Flag && !spec.default_value.empty())
    line += " (default " + std::string(spec.default_value) + ")";
  if (spec.support == Support::Refused) line += " [not supported in this version]";
  if (spec.support == Support::Ignored) line += " [accepted, without effect]";
  return line + "\n";
}

}  // namespace

std::string help_text(std::string_view program) {
  std::string text = "usage: " + std::string(program) +
                     " --model=FILE.onnx --framework=5 --output=PATH --soc_version=CHIP [options]\n"
                     "Options are written --name=value or --name value.\n";
  const OptionSpec* previous = nullptr;
  for (const OptionSpec& spec : option_table()) {
    if (spec.help.empty()) continue;
    if (previous == nullptr || is_basic(previous->group) != is_basic(spec.group))
      text +=
          std::string("\n===== ") + (is_basic(spec.group) ? "Basic" : "Advanced") + " Functionality =====\n";
    if (previous == nullptr || previous->group != spec.group)
      text += "[" + std::string(title(spec.group)) + "]\n";
    text += line_of(spec);
    previous = &spec;
  }
  return text;
}

StatusOr<std::string> explain_text(std::string_view code) {
  const ErrorCode* known = find_error_code(code);
  if (known == nullptr) {
    std::vector<std::string> codes;
    for (const ErrorCode& e : error_codes()) codes.emplace_back(e.code);
    const std::string near = nearest(code, codes);
    return invalid_value(
        "E10001", "explain", code,
        near.empty() ? "there is no such code" : "there is no such code, the nearest is " + near);
  }
  std::string text =
      std::string(known->code) + " " + std::string(known->title) + "\n" + std::string(known->meaning) + "\n";
  if (!known->cause.empty()) text += "Possible Cause: " + std::string(known->cause) + "\n";
  if (!known->solution.empty()) text += "Solution: " + std::string(known->solution) + "\n";
  return text;
}

}  // namespace atc::driver
