#include "report/snapshot.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/engine_name.h"

namespace atc::report {
namespace {

using nlohmann::json;

Status neither(const std::string& why) {
  return Status::error(
      "E10041",
      "it is no compilation report, no fusion_result.json, no profile and no result of omrun --json: " + why);
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

std::vector<std::string> strings(const json& list) { return list.get<std::vector<std::string>>(); }

/// Remarks of a list of objects. What a report of an older version does not have is not told.
std::optional<std::vector<Snapshot::Remark>> remarks(const json& parent, const char* key, const char* what,
                                                     const char* where) {
  const auto list = parent.find(key);
  if (list == parent.end()) return std::nullopt;
  std::vector<Snapshot::Remark> out;
  for (const json& one : *list)
    out.push_back({one.at(what).get<std::string>(), one.at(where).get<std::string>(),
                   one.at("reason").get<std::string>()});
  std::sort(out.begin(), out.end());
  return out;
}

StatusOr<Snapshot> read_compile_report(const json& root) {
  Snapshot s;
  s.model = root.value("model", "");
  s.soc_version = root.value("soc_version", "");
  s.tasks.emplace();
  for (const json& t : root.at("tasks")) {
    Snapshot::Task& task = s.tasks->emplace_back();
    task = {t.at("name").get<std::string>(),
            t.at("op_type").get<std::string>(),
            t.at("engine").get<std::string>(),
            strings(t.at("sources")),
            {}};
    // Reports of older versions have no times.
    if (const auto us = t.find("us"); us != t.end()) task.us = us->get<double>();
    task.bound_by = t.value("bound_by", "");
    if (const auto formed = t.find("formed_by"); formed != t.end())
      for (const json& f : *formed) task.formed_by.push_back(f.at("pass").get<std::string>());
  }
  const json& totals = root.at("totals");
  s.arena_bytes = totals.at("arena_bytes").get<std::int64_t>();
  s.weight_bytes = totals.at("weight_bytes").get<std::int64_t>();
  if (const auto us = totals.find("us"); us != totals.end()) s.us = us->get<double>();
  if (const auto saved = totals.find("saved"); saved != totals.end())
    s.saved_bytes =
        saved->at("bytes_written").get<std::int64_t>() + saved->at("bytes_read").get<std::int64_t>();
  if (const auto size = root.find("size"); size != root.end())
    s.file_bytes = size->at("file_bytes").get<std::int64_t>();
  s.near_misses = remarks(root, "near_misses", "fusion", "node");
  if (const auto precision = root.find("precision"); precision != root.end())
    s.precision = remarks(*precision, "changes", "change", "value");
  ATC_TRY(add_fusions(root.at("fusions"), s));
  return s;
}

/// The profile.json of `omrun --profile`.
StatusOr<Snapshot> read_profile(const json& root) {
  Snapshot s;
  s.model = root.at("model").get<std::string>();
  s.soc_version = root.at("soc_version").get<std::string>();
  s.us = root.at("us").get<double>();
  s.tasks.emplace();
  for (const json& t : root.at("tasks")) {
    s.tasks->push_back({t.at("name").get<std::string>(),
                        t.at("op_type").get<std::string>(),
                        t.at("engine").get<std::string>(),
                        strings(t.at("sources")),
                        {},
                        t.at("us").get<double>(),
                        t.value("bound_by", "")});
  }
  return s;
}

/// What `omrun --json` prints of a run.
StatusOr<Snapshot> read_run(const json& root) {
  Snapshot s;
  s.us = root.at("simulated").at("us").get<double>();
  return s;
}

/// One object of a fusion_result.json. Older versions write the graph's number beside its fusions.
Status add_graphs(const json& root, Snapshot& s) {
  if (root.contains("session_and_graph_id") || root.contains("graphId")) return add_fusions(root, s);
  for (const auto& [key, graph] : root.items()) {
    if (!key.starts_with("session_and_graph_id_") || !graph.is_object())
      return neither("it has the key '" + key + "'");
    ATC_TRY(add_fusions(graph, s));
  }
  return {};
}

StatusOr<Snapshot> read_objects(std::string_view text) {
  Snapshot s;
  std::istringstream in{std::string(text)};
  bool first = true;
  while ((in >> std::ws) && in.peek() != std::istringstream::traits_type::eof()) {
    json root;
    in >> root;
    if (!root.is_object()) return neither("it is no JSON object");
    const bool has_more = in.peek() != std::istringstream::traits_type::eof() &&
                          (in >> std::ws).peek() != std::istringstream::traits_type::eof();
    in.clear();
    if (first && root.contains("schema_version")) {
      if (has_more) return neither("something follows its object");
      if (root["schema_version"] != 1) return neither("its schema_version is not 1");
      return root.value("kind", "") == "profile" ? read_profile(root) : read_compile_report(root);
    }
    if (first && !has_more && root.contains("simulated")) return read_run(root);
    first = false;
    ATC_TRY(add_graphs(root, s));
    if (!has_more) break;
  }
  if (!s.fusions) return neither("it has no graphs");
  return s;
}

}  // namespace

Snapshot snapshot_of(const plan::Plan& plan) {
  Snapshot s;
  s.model = plan.model_name;
  s.soc_version = plan.soc_version;
  s.tasks.emplace();
  for (const plan::PlanTask& t : plan.tasks)
    s.tasks->push_back({t.name, t.op_type, std::string(engine_name(t.engine)), t.sources, {}});
  s.arena_bytes = plan.arena_bytes;
  s.weight_bytes = plan.weight_bytes;
  return s;
}

StatusOr<Snapshot> read_report(std::string_view text) {
  try {
    return read_objects(text);
  } catch (const json::exception& fault) {
    return neither(fault.what());
  }
}

}  // namespace atc::report
