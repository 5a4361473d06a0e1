#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace atc::driver {

enum class OptionKind : std::uint8_t {
  Text,
  InputFile,
  Integer,
  Switch,  ///< 0 or 1
  Bool,    ///< true or false
  Choice,  ///< one of `choices`
  Flag,    ///< no value needed: --help
};

/// What becomes of a value other than the default.
enum class Support : std::uint8_t {
  Full,     ///< has its effect
  Ignored,  ///< no effect on results: accepted with a warning
  Refused,  ///< would change results or files: refused by name (E10055)
};

/// Groups of the help text, in its order.
enum class OptionGroup : std::uint8_t {
  General,
  Input,
  Output,
  Target,
  Feature,
  ModelTuning,
  OperatorTuning,
  Debug,
  Extension
};

/// One command-line option: parsing, checks, help and refusals are all driven by these rows.
struct OptionSpec {
  std::string_view name;  ///< without dashes, as help shows it
  OptionGroup group = OptionGroup::General;
  OptionKind kind = OptionKind::Text;
  std::string_view default_value = {};
  std::string_view choices = {};  ///< "a|b|c", for Choice; legal range "lo..hi" for Integer
  Support support = Support::Full;
  std::string_view help = {};
  /// Refused: what to do instead. Ignored: why nothing is lost.
  std::string_view hint = {};
};

/// Every option, by group, in the order of the help text.
std::span<const OptionSpec> option_table();
/// By canonical name (see canonical_name); nullptr when there is none.
const OptionSpec* find_option(std::string_view name);
/// '-' counts as '_' inside a name: --input-shape is --input_shape.
std::string canonical_name(std::string_view name);
std::string_view title(OptionGroup group);

}  // namespace atc::driver
