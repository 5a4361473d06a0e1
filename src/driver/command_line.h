#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "atc/base/status.h"
#include "driver/option_table.h"

namespace atc::driver {

/// The options of a command line, not yet interpreted. Names are canonical.
class CommandLine {
 public:
  /// Parses what follows the program's name, as getopt_long does for ATC: `--name=value`, `--name value`,
  /// `-name`, '-' for '_', unambiguous prefixes; a repeated option keeps its last value.
  /// Unknown name: E10001 with the nearest; missing value: E10004; stray word: E10001.
  static StatusOr<CommandLine> parse(std::span<const std::string> arguments);

  /// Given with a value that is not empty: an empty one counts as left out.
  bool given(std::string_view name) const { return !given_text(name).empty(); }
  /// The given value, else the default of the table.
  std::string_view text(std::string_view name) const;
  /// The given value or "".
  std::string_view given_text(std::string_view name) const;
  /// Given with a value that differs from the default.
  bool changed(const OptionSpec& spec) const;
  /// Integer options; E10003 when the text is no integer or outside the table's range.
  StatusOr<std::int64_t> integer(std::string_view name) const;
  /// All given values by name.
  const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace atc::driver
