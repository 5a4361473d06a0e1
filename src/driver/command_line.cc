#include "driver/command_line.h"

#include <charconv>
#include <vector>

#include "atc/base/check.h"
#include "atc/base/strings.h"
#include "driver/option_errors.h"

namespace atc::driver {
namespace {

/// Options whose name begins with `prefix`: ATC's own first, so that ours never spoil an abbreviation.
std::vector<const OptionSpec*> with_prefix(std::string_view prefix, bool extensions) {
  std::vector<const OptionSpec*> found;
  if (prefix.empty()) return found;
  for (const OptionSpec& spec : option_table())
    if ((spec.group == OptionGroup::Extension) == extensions && canonical_name(spec.name).starts_with(prefix))
      found.push_back(&spec);
  return found;
}

StatusOr<const OptionSpec*> resolve(std::string_view given) {
  const std::string name = canonical_name(given);
  if (const OptionSpec* exact = find_option(name)) return exact;
  for (const bool extensions : {false, true}) {
    const auto found = with_prefix(name, extensions);
    if (found.size() == 1) return found.front();
    if (found.size() > 1) {
      std::vector<std::string> names;
      names.reserve(found.size());
      for (const OptionSpec* spec : found) names.push_back("--" + std::string(spec->name));
      return Status::error("E10001", "Command line flag --" + std::string(given) + " is ambiguous.")
          .note("it may be " + join(names, ", "))
          .solution("Write the name in full.");
    }
  }
  std::vector<std::string> names;
  for (const OptionSpec& spec : option_table()) names.emplace_back(canonical_name(spec.name));
  const std::string near = nearest(name, names);
  Status status = Status::error("E10001", "Unknown command line flag --" + std::string(given) + ".");
  if (near.empty()) return std::move(status).solution("See atc --help for the options.");
  return std::move(status).solution("Did you mean --" + std::string(find_option(near)->name) + "?");
}

/// The name of an option word, or "" for other words.
std::string_view option_name(std::string_view word) {
  if (word.starts_with("--")) return word.substr(2);
  if (word == "-h" ||
      (word.size() > 2 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0))
    return word.substr(1);
  return {};
}

}  // namespace

StatusOr<CommandLine> CommandLine::parse(std::span<const std::string> arguments) {
  CommandLine line;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const std::string_view option = option_name(word);
    if (option.empty() || option.front() == '=')
      return Status::error("E10001", "Non-option parameter: " + std::string(word) + ".")
          .cause("A blank before or after =, a missing quote, or a line break without a backslash.")
          .solution("Write --name=value without blanks; put values that contain blanks or ; in quotes.");
    const auto equals = option.find('=');
    ATC_ASSIGN(const OptionSpec* spec, resolve(option.substr(0, equals)));
    std::string value;
    if (equals != std::string_view::npos) {
      value = option.substr(equals + 1);
    } else if (spec->kind == OptionKind::Flag) {
      value = "true";
    } else {
      if (i + 1 == arguments.size())
        return Status::error("E10004",
                             "Flag --" + std::string(spec->name) +
                                 " is missing its argument; flag description: " + std::string(spec->help));
      value = arguments[++i];
    }
    line.values_[canonical_name(spec->name)] = std::move(value);
  }
  return line;
}

std::string_view CommandLine::given_text(std::string_view name) const {
  const auto found = values_.find(canonical_name(name));
  return found == values_.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view CommandLine::text(std::string_view name) const {
  const OptionSpec* spec = find_option(name);
  ATC_CHECK(spec != nullptr, "no such option: " + std::string(name));
  const std::string_view value = given_text(name);
  return value.empty() ? spec->default_value : value;
}

bool CommandLine::changed(const OptionSpec& spec) const {
  return given(spec.name) && given_text(spec.name) != spec.default_value;
}

StatusOr<std::int64_t> CommandLine::integer(std::string_view name) const {
  const OptionSpec* spec = find_option(name);
  ATC_CHECK(spec != nullptr && spec->kind == OptionKind::Integer, "no integer option: " + std::string(name));
  const std::string_view value = text(name);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::result_out_of_range)
    return invalid_value("E10003", spec->name, value, "the number is too large");
  if (error != std::errc() || end != value.data() + value.size())
    return invalid_value("E10003", spec->name, value, "an integer is expected");
  const std::string_view range = spec->choices;
  if (const auto dots = range.find(".."); dots != std::string_view::npos) {
    std::int64_t low = 0;
    std::int64_t high = INT64_MAX;
    std::from_chars(range.data(), range.data() + dots, low);
    std::from_chars(range.data() + dots + 2, range.data() + range.size(), high);
    if (number < low || number > high) {
      std::string reason = "it must be " + std::to_string(low);
      reason += high == INT64_MAX ? std::string(" or more") : " to " + std::to_string(high);
      return invalid_value("E10003", spec->name, value, reason);
    }
  }
  return number;
}

}  // namespace atc::driver
