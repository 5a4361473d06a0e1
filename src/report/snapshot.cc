#include "report/snapshot.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/engine_name.h"
#include "report/json_place.h"

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

/// Remarks of a list of objects. What a report of an older version does not have is not told.
std::optional<std::vector<Snapshot::Remark>> remarks(const JsonPlace& parent, const char* key,
                                                     const char* what, const char* where) {
  const auto list = parent.find(key);
  if (!list) return std::nullopt;
  std::vector<Snapshot::Remark> out;
  for (const JsonPlace& one : list->items())
    out.push_back({one.at(what).text(), one.at(where).text(), one.at("reason").text()});
  std::sort(out.begin(), out.end());
  return out;
}

Snapshot::Task task_of(const JsonPlace& t) {
  Snapshot::Task task;
  task.name = t.at("name").text();
  task.op_type = t.at("op_type").text();
  task.engine = t.at("engine").text();
  task.sources = t.at("sources").texts();
  task.bound_by = t.text_or("bound_by", "");
  return task;
}

StatusOr<Snapshot> read_compile_report(const JsonPlace& root) {
  Snapshot s;
  s.model = root.text_or("model", "");
  s.soc_version = root.text_or("soc_version", "");
  s.tasks.emplace();
  for (const JsonPlace& t : root.at("tasks").items()) {
    Snapshot::Task& task = s.tasks->emplace_back(task_of(t));
    // Reports of older versions have no times.
    if (const auto us = t.find("us")) task.us = us->number();
    if (const auto formed = t.find("formed_by"))
      for (const JsonPlace& f : formed->items()) task.formed_by.push_back(f.at("pass").text());
  }
  const JsonPlace totals = root.at("totals");
  s.arena_bytes = totals.at("arena_bytes").integer();
  s.weight_bytes = totals.at("weight_bytes").integer();
  if (const auto us = totals.find("us")) s.us = us->number();
  if (const auto saved = totals.find("saved"))
    s.saved_bytes = saved->at("bytes_written").integer() + saved->at("bytes_read").integer();
  if (const auto size = root.find("size")) s.file_bytes = size->at("file_bytes").integer();
  s.near_misses = remarks(root, "near_misses", "fusion", "node");
  if (const auto precision = root.find("precision"))
    s.precision = remarks(*precision, "changes", "change", "value");
  ATC_TRY(add_fusions(root.at("fusions").object(), s));
  return s;
}

/// The profile.json of `omrun --profile`.
StatusOr<Snapshot> read_profile(const JsonPlace& root) {
  Snapshot s;
  s.model = root.at("model").text();
  s.soc_version = root.at("soc_version").text();
  s.us = root.at("us").number();
  s.tasks.emplace();
  for (const JsonPlace& t : root.at("tasks").items())
    s.tasks->emplace_back(task_of(t)).us = t.at("us").number();
  return s;
}

/// What `omrun --json` prints of a run.
StatusOr<Snapshot> read_run(const JsonPlace& root) {
  Snapshot s;
  s.us = root.at("simulated").at("us").number();
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

/// Of byte `end`, counted from 1 as the parser does.
std::string line_and_column(std::string_view text, std::size_t end) {
  const std::string_view before = text.substr(0, std::min(end == 0 ? 0 : end - 1, text.size()));
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  return "line " + std::to_string(std::count(before.begin(), before.end(), '\n') + 1) + ", column " +
         std::to_string(column);
}

StatusOr<Snapshot> read_objects(std::string_view text) {
  Snapshot s;
  std::istringstream in{std::string(text)};
  bool first = true;
  while ((in >> std::ws) && in.peek() != std::istringstream::traits_type::eof()) {
    json root;
    const auto start = static_cast<std::size_t>(in.tellg());
    try {
      in >> root;
    } catch (const json::parse_error& fault) {
      return neither("it is not valid JSON at " + line_and_column(text, start + fault.byte));
    }
    if (!root.is_object()) return neither("it is no JSON object");
    const bool has_more = in.peek() != std::istringstream::traits_type::eof() &&
                          (in >> std::ws).peek() != std::istringstream::traits_type::eof();
    in.clear();
    if (first && root.contains("schema_version")) {
      if (has_more) return neither("something follows its object");
      if (root["schema_version"] != 1) return neither("its schema_version is not 1");
      const JsonPlace place(root);
      return place.text_or("kind", "") == "profile" ? read_profile(place) : read_compile_report(place);
    }
    if (first && !has_more && root.contains("simulated")) return read_run(JsonPlace(root));
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
  } catch (const JsonMismatch& fault) {
    return neither(fault.text);
  } catch (const json::out_of_range&) {
    return neither("a number in it is too large");
  } catch (const json::exception&) {
    return neither("it is not valid JSON");
  }
}

}  // namespace atc::report
