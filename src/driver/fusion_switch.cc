#include "driver/fusion_switch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "atc/base/strings.h"
#include "passes/pass.h"
#include "passes/pipeline.h"

namespace atc::driver {
namespace {

using nlohmann::json;

Status invalid(const std::string& option, const std::string& value, const std::string& why) {
  return Status::error("E10001",
                       "Value " + value + " for parameter --" + option + " is invalid. Reason: " + why);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// "on" or "off"; nullopt for anything else.
std::optional<bool> switch_of(std::string_view text) {
  if (text == "on") return true;
  if (text == "off") return false;
  return std::nullopt;
}

/// Reads "Name:on" entries; the reason when one is none.
std::string read_entries(std::string_view text, char separator, passes::Switches& out) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view entry = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (entry.empty()) continue;
    const std::size_t colon = entry.rfind(':');
    const auto on =
        colon == std::string_view::npos ? std::nullopt : switch_of(trimmed(entry.substr(colon + 1)));
    const std::string_view name = trimmed(entry.substr(0, std::min(colon, entry.size())));
    if (!on || name.empty()) return "'" + printable(entry) + "' is not of the form Pass:on or Pass:off";
    if (!out.passes.try_emplace(std::string(name), *on).second)
      return "pass '" + printable(name) + "' is there twice";
  }
  return {};
}

std::string read_section(const std::string& section, const json& entries, passes::Switches& out) {
  if (!entries.is_object()) return section + " is no object";
  for (const auto& [name, value] : entries.items()) {
    const auto on = value.is_string() ? switch_of(value.get<std::string>()) : std::nullopt;
    if (!on) return "'" + printable(name) + "' in " + section + " must be \"on\" or \"off\"";
    if (name == "ALL")
      (section == "GraphFusion" ? out.all_graph : out.all_ub) = *on;
    else
      out.passes[name] = *on;
  }
  return {};
}

std::string read_json(std::string_view text, passes::Switches& out) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) return "it is not valid JSON";
  const auto sections = root.find("Switch");
  if (sections == root.end() || !sections->is_object()) return "it has no object \"Switch\"";
  for (const char* section : {"GraphFusion", "UBFusion"})
    if (const auto entries = sections->find(section); entries != sections->end())
      if (std::string fault = read_section(section, *entries, out); !fault.empty()) return fault;
  return {};
}

}  // namespace

StatusOr<passes::Switches> parse_fusion_switch(std::string_view text, const std::string& file) {
  passes::Switches out;
  const std::string_view content = trimmed(text);
  const std::string fault =
      content.starts_with('{') ? read_json(content, out) : read_entries(content, '\n', out);
  if (!fault.empty()) return invalid("fusion_switch_file", file, fault);
  return out;
}

std::vector<std::string> always_on(const passes::Switches& switches) {
  std::vector<std::string> out;
  const std::vector<passes::Pass> known = passes::pipeline();
  for (const auto& [name, on] : switches.passes) {
    if (on || name == "constant-folding") continue;
    const auto is_named = [&, &name = name](const passes::Pass& p) {
      return name == p.name || name == p.atc_name;
    };
    if (std::any_of(known.begin(), known.end(), is_named) &&
        std::none_of(known.begin(), known.end(), [&](const auto& p) { return is_named(p) && p.optional; }))
      out.push_back(name);
  }
  return out;
}

StatusOr<passes::Switches> parse_optimization_switch(std::string_view text) {
  passes::Switches out;
  if (const std::string fault = read_entries(text, ';', out); !fault.empty())
    return invalid("optimization_switch", std::string(text), fault);
  return out;
}

}  // namespace atc::driver
