#include "report/snapshot.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "report/engine_name.h"

namespace atc::report {
namespace {

using nlohmann::json;

Status neither(const std::string& why) {
  return Status::error("E10041", "it is neither a compilation report nor a fusion_result.json: " + why);
}

// Counts are numbers in the compilation report and decimal strings in fusion_result.json.
std::optional<int> count_of(const json& fusion) {
  const auto found = fusion.find("effect_times");
  if (found == fusion.end()) return std::nullopt;
  if (found->is_number_integer()) return found->get<int>();
  if (!found->is_string()) return std::nullopt;
  const std::string text = found->get<std::string>();
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status add_fusions(const json& groups, Snapshot& s) {
  if (!s.fusions) s.fusions.emplace();
  for (const char* kind : {"graph_fusion", "ub_fusion"}) {
    const auto group = groups.find(kind);
    if (group == groups.end()) continue;
    if (!group->is_object()) return neither(std::string(kind) + " is no object");
    for (const auto& [name, fusion] : group->items()) {
      const auto count = fusion.is_object() ? count_of(fusion) : std::nullopt;
      if (!count) return neither("fusion '" + name + "' has no effect_times");
      (*s.fusions)[name] += *count;
    }
  }
  return {};
}

StatusOr<Snapshot> read_compile_report(const json& root) {
  Snapshot s;
  s.model = root.value("model", "");
  s.soc_version = root.value("soc_version", "");
  s.tasks.emplace();
  for (const json& t : root.at("tasks"))
    s.tasks->push_back({t.at("name").get<std::string>(), t.at("op_type").get<std::string>(),
                        t.at("engine").get<std::string>(), t.at("sources").get<std::vector<std::string>>()});
  const json& totals = root.at("totals");
  s.arena_bytes = totals.at("arena_bytes").get<std::int64_t>();
  s.weight_bytes = totals.at("weight_bytes").get<std::int64_t>();
  ATC_TRY(add_fusions(root.at("fusions"), s));
  return s;
}

}  // namespace

Snapshot snapshot_of(const plan::Plan& plan) {
  Snapshot s;
  s.model = plan.model_name;
  s.soc_version = plan.soc_version;
  s.tasks.emplace();
  for (const plan::PlanTask& t : plan.tasks)
    s.tasks->push_back({t.name, t.op_type, std::string(engine_name(t.engine)), t.sources});
  s.arena_bytes = plan.arena_bytes;
  s.weight_bytes = plan.weight_bytes;
  return s;
}

StatusOr<Snapshot> read_report(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object()) return neither("it is no JSON object");
  try {
    if (root.contains("schema_version")) {
      if (root["schema_version"] != 1) return neither("its schema_version is not 1");
      return read_compile_report(root);
    }
    Snapshot s;
    for (const auto& [key, graph] : root.items()) {
      if (!key.starts_with("session_and_graph_id_") || !graph.is_object())
        return neither("it has the key '" + key + "'");
      ATC_TRY(add_fusions(graph, s));
    }
    if (!s.fusions) return neither("it has no graphs");
    return s;
  } catch (const json::exception& fault) {
    return neither(fault.what());
  }
}

}  // namespace atc::report
