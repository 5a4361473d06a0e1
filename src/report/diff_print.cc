// The three forms of a Diff.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>

#include "atc/base/strings.h"
#include "report/diff.h"

namespace atc::report {
namespace {

using nlohmann::json;
using Task = Snapshot::Task;

constexpr std::size_t kShownSources = 6;
constexpr std::size_t kShownTimes = 10;

struct Row {
  const char* label;
  const Figure* figure;
};
std::vector<Row> rows(const Diff& d) {
  return {{"tasks", &d.tasks},
          {"modelled time (us)", &d.us},
          {"memory (bytes)", &d.arena_bytes},
          {"weights (bytes)", &d.weight_bytes},
          {".om (bytes)", &d.file_bytes},
          {"kept on chip (bytes)", &d.saved_bytes}};
}

std::string text_of(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, v == std::floor(v) ? "%.0f" : "%.1f", v);
  return buffer;
}
std::string text_of(const std::optional<double>& v) { return v ? text_of(*v) : "unknown"; }

std::string change_of(const Figure& f) {
  if (!f.both() || !f.changed()) return "";
  if (*f.before == 0) return "+" + text_of(*f.after);
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%+.1f %%", f.increase_percent());
  return buffer;
}

std::string task_text(const Task& t) {
  std::vector<std::string> shown(
      t.sources.begin(),
      t.sources.begin() + static_cast<std::ptrdiff_t>(std::min(t.sources.size(), kShownSources)));
  for (std::string& s : shown) s = printable(s);
  if (shown.size() < t.sources.size()) shown.push_back("...");
  return t.op_type + (t.engine == "AiCore" ? "" : " on " + t.engine) + " [" + join(shown, ", ") + "]" +
         (t.formed_by.empty() ? "" : " by " + join(t.formed_by, ", ")) +
         (t.us ? ", " + text_of(*t.us) + " us" : "");
}

struct RemarkRow {
  const char* label;
  const Diff::Remarks* remarks;
};
std::vector<RemarkRow> remark_rows(const Diff& d) {
  return {{"near miss", &d.near_misses}, {"precision", &d.precision}};
}

std::string remark_text(const Snapshot::Remark& r) {
  return printable(r.what) + " at " + printable(r.where) + ": " + printable(r.reason);
}

std::string tasks_text(const std::vector<Task>& tasks) {
  std::vector<std::string> parts;
  for (const Task& t : tasks) parts.push_back(task_text(t));
  return parts.empty() ? "nothing" : join(parts, " + ");
}

std::string time_text(const Task& t) {
  return text_of(*t.us) + " us" + (t.bound_by.empty() ? "" : " (" + t.bound_by + ")");
}

/// The tasks whose time changed most; the JSON form has all of them.
std::span<const Retimed> shown_times(const Diff& d) {
  return std::span(d.retimed).first(std::min(d.retimed.size(), kShownTimes));
}

json figure_json(const Figure& f) {
  json j = {{"before", f.before ? json(*f.before) : json()}, {"after", f.after ? json(*f.after) : json()}};
  if (f.both())
    j["increase_percent"] = std::isfinite(f.increase_percent()) ? json(f.increase_percent()) : json();
  return j;
}

json retimed_json(const std::vector<Retimed>& all) {
  json out = json::array();
  for (const Retimed& r : all)
    out.push_back({{"name", r.after.name},
                   {"op_type", r.after.op_type},
                   {"sources", r.after.sources},
                   {"us", figure_json({r.before.us, r.after.us})},
                   {"bound_by", {{"before", r.before.bound_by}, {"after", r.after.bound_by}}}});
  return out;
}

json tasks_json(const std::vector<Task>& tasks) {
  json out = json::array();
  for (const Task& t : tasks)
    out.push_back({{"name", t.name},
                   {"op_type", t.op_type},
                   {"engine", t.engine},
                   {"sources", t.sources},
                   {"formed_by", t.formed_by}});
  return out;
}

json remarks_json(const Diff::Remarks& remarks) {
  const auto list = [](const std::vector<Snapshot::Remark>& all) {
    json out = json::array();
    for (const Snapshot::Remark& r : all)
      out.push_back({{"what", r.what}, {"where", r.where}, {"reason", r.reason}});
    return out;
  };
  return {{"gone", list(remarks.gone)}, {"come", list(remarks.come)}};
}

}  // namespace

std::string to_text(const Diff& d) {
  if (d.empty()) return "no difference\n";
  std::string out;
  for (const Row& row : rows(d)) {
    if (!row.figure->changed()) continue;
    char line[160];
    std::snprintf(line, sizeof line, "%-20s %14s -> %-14s %s", row.label, text_of(row.figure->before).c_str(),
                  text_of(row.figure->after).c_str(), change_of(*row.figure).c_str());
    out += line;
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  if (d.weights_differ) out += "weights: contents differ\n";
  for (const auto& [name, f] : d.fusions)
    out += "fusion " + printable(name) + ": " + text_of(f.before) + " -> " + text_of(f.after) + "\n";
  for (const Regrouped& r : d.regrouped)
    out += "- " + tasks_text(r.before) + "\n+ " + tasks_text(r.after) + "\n";
  for (const Retimed& r : shown_times(d))
    out += "time of " + printable(r.after.name) + ": " + time_text(r.before) + " -> " + time_text(r.after) +
           "\n";
  if (d.retimed.size() > kShownTimes)
    out += "and " + std::to_string(d.retimed.size() - kShownTimes) + " tasks whose time changed less\n";
  for (const RemarkRow& row : remark_rows(d)) {
    for (const auto& r : row.remarks->gone) out += std::string(row.label) + " - " + remark_text(r) + "\n";
    for (const auto& r : row.remarks->come) out += std::string(row.label) + " + " + remark_text(r) + "\n";
  }
  return out;
}

namespace {

// A bar in a node's name would end the cell.
std::string in_cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string to_markdown(const Diff& d) {
  if (d.empty()) return "No difference.\n";
  std::string out = "| | before | after | change |\n| --- | ---: | ---: | ---: |\n";
  for (const Row& row : rows(d))
    if (row.figure->before || row.figure->after)
      out += "| " + std::string(row.label) + " | " + text_of(row.figure->before) + " | " +
             text_of(row.figure->after) + " | " + change_of(*row.figure) + " |\n";
  if (d.weights_differ) out += "| weights (contents) | | | differ |\n";
  for (const auto& [name, f] : d.fusions)
    out += "| fusion `" + printable(name) + "` | " + text_of(f.before) + " | " + text_of(f.after) + " | |\n";
  if (!d.regrouped.empty()) out += "\n| tasks before | tasks after |\n| --- | --- |\n";
  for (const Regrouped& r : d.regrouped)
    out += "| " + in_cell(tasks_text(r.before)) + " | " + in_cell(tasks_text(r.after)) + " |\n";
  if (!d.retimed.empty()) out += "\n| task | time before | time after |\n| --- | ---: | ---: |\n";
  for (const Retimed& r : shown_times(d))
    out += "| " + in_cell(printable(r.after.name)) + " | " + time_text(r.before) + " | " +
           time_text(r.after) + " |\n";
  if (d.retimed.size() > kShownTimes)
    out += "| and " + std::to_string(d.retimed.size() - kShownTimes) + " more | | |\n";
  for (const RemarkRow& row : remark_rows(d)) {
    if (row.remarks->empty()) continue;
    out += "\n| " + std::string(row.label) + " | |\n| --- | --- |\n";
    for (const auto& r : row.remarks->gone) out += "| gone | " + in_cell(remark_text(r)) + " |\n";
    for (const auto& r : row.remarks->come) out += "| new | " + in_cell(remark_text(r)) + " |\n";
  }
  return out;
}

std::string to_json(const Diff& d) {
  json fusions = json::object(), regrouped = json::array();
  for (const auto& [name, f] : d.fusions) fusions[name] = figure_json(f);
  for (const Regrouped& r : d.regrouped)
    regrouped.push_back({{"before", tasks_json(r.before)}, {"after", tasks_json(r.after)}});
  const json all = {{"schema_version", 1},
                    {"tasks", figure_json(d.tasks)},
                    {"us", figure_json(d.us)},
                    {"arena_bytes", figure_json(d.arena_bytes)},
                    {"weight_bytes", figure_json(d.weight_bytes)},
                    {"weights_differ", d.weights_differ},
                    {"file_bytes", figure_json(d.file_bytes)},
                    {"saved_bytes", figure_json(d.saved_bytes)},
                    {"near_misses", remarks_json(d.near_misses)},
                    {"precision", remarks_json(d.precision)},
                    {"fusions", fusions},
                    {"regrouped", regrouped},
                    {"retimed", retimed_json(d.retimed)}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace atc::report
