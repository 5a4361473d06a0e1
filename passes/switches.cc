#include "passes/switches.h"

#include <algorithm>

#include "atc/base/strings.h"
#include "passes/pass.h"
#include "passes/pipeline.h"

namespace atc::passes {
namespace {

// Entries of to_text() that stand for no single pass.
constexpr std::string_view kAllGraph = "GraphFusion.ALL", kAllUb = "UBFusion.ALL", kBasic = "basic-only";

// It always runs; off, it does what is needed alone.
constexpr std::string_view kFolding = "constant-folding";

bool has_name(const Pass& pass, std::string_view name) {
  if (name == pass.name || name == pass.atc_name) return true;
  const auto parts = split(pass.parts, ' ');
  return std::find(parts.begin(), parts.end(), name) != parts.end();
}

}  // namespace

std::optional<bool> Switches::named(std::string_view name) const {
  const auto found = name.empty() ? passes.end() : passes.find(name);
  return found == passes.end() ? std::nullopt : std::optional(found->second);
}

bool Switches::by_default(const Pass& pass) const {
  for (const std::string_view name : {pass.name, pass.atc_name})
    if (const auto on = named(name)) return *on;
  if (basic_only) return pass.basic;
  return (pass.kind == FusionKind::Graph ? all_graph : all_ub).value_or(true);
}

bool Switches::is_on(const Pass& pass) const {
  if (!pass.optional || by_default(pass)) return true;
  const auto parts = split(pass.parts, ' ');
  // A pass that is named off is off whatever its parts are.
  for (const std::string_view name : {pass.name, pass.atc_name})
    if (named(name)) return false;
  return std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return named(part) == true; });
}

bool Switches::is_part_on(const Pass& pass, std::string_view part) const {
  return named(part).value_or(by_default(pass));
}

void Switches::override_with(const Switches& other) {
  for (const auto& [name, on] : other.passes) passes[name] = on;
  if (other.all_graph) all_graph = other.all_graph;
  if (other.all_ub) all_ub = other.all_ub;
  basic_only = basic_only || other.basic_only;
}

std::string Switches::to_text() const {
  std::vector<std::string> entries;
  const auto add = [&](std::string_view name, bool on) {
    entries.push_back(std::string(name) + (on ? ":on" : ":off"));
  };
  if (all_graph) add(kAllGraph, *all_graph);
  if (all_ub) add(kAllUb, *all_ub);
  if (basic_only) add(kBasic, true);
  const std::vector<Pass> known = pipeline();
  for (const auto& [name, on] : passes)
    if (std::any_of(known.begin(), known.end(),
                    [&](const Pass& p) { return (p.optional || name == kFolding) && has_name(p, name); }))
      add(name, on);
  return join(entries, ";");
}

std::optional<Switches> Switches::from_text(std::string_view text) {
  Switches out;
  if (text.empty()) return out;
  for (const std::string& entry : split(text, ';')) {
    const std::size_t colon = entry.find(':');
    const std::string name = entry.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : entry.substr(colon + 1);
    if (name.empty() || (value != "on" && value != "off")) return std::nullopt;
    const bool on = value == "on";
    if (name == kAllGraph)
      out.all_graph = on;
    else if (name == kAllUb)
      out.all_ub = on;
    else if (name == kBasic)
      out.basic_only = on;
    else
      out.passes[name] = on;
  }
  return out;
}

}  // namespace atc::passes
