#include "driver/option_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "atc/base/strings.h"
#include "driver/option_errors.h"

namespace atc::driver {
namespace {

constexpr std::size_t kLongestPath = 4096;  // PATH_MAX
constexpr std::size_t kLongestName = 255;   // NAME_MAX

// Names of --output_type, as ATC writes dtypes.
constexpr std::array<std::pair<std::string_view, DType>, 11> kOutputTypes = {{{"FP32", DType::F32},
                                                                              {"FP16", DType::F16},
                                                                              {"UINT8", DType::U8},
                                                                              {"INT8", DType::I8},
                                                                              {"UINT16", DType::U16},
                                                                              {"INT16", DType::I16},
                                                                              {"UINT32", DType::U32},
                                                                              {"INT32", DType::I32},
                                                                              {"UINT64", DType::U64},
                                                                              {"INT64", DType::I64},
                                                                              {"DOUBLE", DType::F64}}};

/// Splits "node:3" at its last colon; nullopt when no number follows it.
std::optional<std::pair<std::string, int>> node_and_index(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  int index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || index < 0) return std::nullopt;
  return std::pair{std::string(text.substr(0, colon)), index};
}

StatusOr<DType> output_dtype(std::string_view name, std::string_view value) {
  std::vector<std::string> names;
  for (const auto& [known, dtype] : kOutputTypes) {
    if (known == name) return dtype;
    names.emplace_back(known);
  }
  return invalid_value("E10001", "output_type", value,
                       "'" + std::string(name) + "' is not one of " + join(names, ", "));
}

}  // namespace

Status check_value(const CommandLine& line, const OptionSpec& spec) {
  if (!line.given(spec.name)) return {};
  const std::string_view value = line.text(spec.name);
  switch (spec.kind) {
    case OptionKind::Integer:
      return line.integer(spec.name).status();
    case OptionKind::Switch:
      if (value != "0" && value != "1") return invalid_value("E10006", spec.name, value, "it must be 1 or 0");
      return {};
    case OptionKind::Bool:
      if (value != "true" && value != "false")
        return invalid_value("E10005", spec.name, value, "it must be true or false");
      return {};
    case OptionKind::Choice: {
      const auto choices = split(spec.choices, '|');
      if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
      std::string reason = "it must be one of " + join(choices, ", ");
      // Of numbers of one digit each is as near as the others.
      if (const std::string near = nearest(value, choices); near.size() > 1)
        reason += "; did you mean " + near + "?";
      return invalid_value("E10001", spec.name, value, reason);
    }
    case OptionKind::Flag:
    case OptionKind::Text:
    case OptionKind::InputFile:
      return {};
  }
  return {};
}

StatusOr<std::vector<std::string>> parse_names(std::string_view option, std::string_view text) {
  std::vector<std::string> names = split(text, ';');
  if (names.size() > 1 && trim(names.back()).empty()) names.pop_back();
  for (std::string& name : names) {
    name = trim(name);
    if (name.empty()) return invalid_value("E10001", option, text, "a name between semicolons is empty");
  }
  return names;
}

StatusOr<std::vector<OutNode>> parse_out_nodes(std::string_view text) {
  ATC_ASSIGN(const auto entries, parse_names("out_nodes", text));
  std::vector<OutNode> nodes;
  for (const std::string& entry : entries) {
    OutNode& node = nodes.emplace_back(OutNode{entry, entry, std::nullopt});
    if (auto parts = node_and_index(entry)) {
      node.name = std::move(parts->first);
      node.index = parts->second;
    }
    if (node.index.has_value() != nodes.front().index.has_value())
      return invalid_value("E10001", "out_nodes", text,
                           "names of graph outputs and node:index must not be mixed ('" + nodes.front().text +
                               "' and '" + entry + "')");
  }
  return nodes;
}

StatusOr<std::vector<OutputType>> parse_output_type(std::string_view text, bool has_out_nodes) {
  if (text.find(':') == std::string_view::npos) {
    ATC_ASSIGN(const DType dtype, output_dtype(text, text));
    return std::vector<OutputType>{{"", 0, dtype}};
  }
  if (!has_out_nodes)
    return invalid_value("E10001", "output_type", text,
                         "types of single nodes need --out_nodes with these nodes");
  ATC_ASSIGN(const auto entries, parse_names("output_type", text));
  std::vector<OutputType> types;
  for (const std::string& entry : entries) {
    const auto colon = entry.rfind(':');
    const auto node = colon == std::string::npos ? std::nullopt : node_and_index(entry.substr(0, colon));
    if (!node) return invalid_value("E10001", "output_type", text, "'" + entry + "' is not node:index:type");
    ATC_ASSIGN(const DType dtype, output_dtype(entry.substr(colon + 1), text));
    const auto same = [&](const OutputType& t) { return t.node == node->first && t.index == node->second; };
    if (std::any_of(types.begin(), types.end(), same))
      return invalid_value("E10001", "output_type", text, "'" + entry.substr(0, colon) + "' is given twice");
    types.push_back({node->first, node->second, dtype});
  }
  return types;
}

Status check_output_path(std::string_view option, std::string_view path) {
  const std::string parameter = "Path " + std::string(path) + " of --" + std::string(option);
  const auto slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (path.size() >= kLongestPath || name.size() > kLongestName)
    return Status::error("E10021", parameter + " is too long: a path has at most " +
                                       std::to_string(kLongestPath - 1) + " bytes, a file name " +
                                       std::to_string(kLongestName) + ".");
  if (name.empty() || name == "." || name == "..")
    return Status::error("E10022", parameter + " has no file name after the last slash.");
  return {};
}

}  // namespace atc::driver
