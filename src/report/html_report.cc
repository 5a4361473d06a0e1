#include "report/html_report.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "atc/base/strings.h"

namespace atc::report {
namespace {

using nlohmann::json;

constexpr std::string_view kStyle =
    "body{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:84em;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:.5em 0 1.5em}"
    "th,td{border-bottom:1px solid #ddd;padding:.25em .7em;text-align:left;vertical-align:top}"
    "th{background:#f3f3f3;position:sticky;top:0}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:1.6em}.bar{background:#7aa6d8;height:.8em}"
    "details>summary{cursor:pointer}.none{color:#777}";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

// 1234567 as "1 234 567".
std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n < 0 ? -n : n);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return (n < 0 ? "-" : "") + digits;
}

std::string plain(const json& v) {
  if (v.is_string()) return escaped(v.get<std::string>());
  if (v.is_number_integer()) return grouped(v.get<std::int64_t>());
  if (v.is_null() || (v.is_object() && v.empty())) return "";
  return escaped(v.dump(-1, ' ', false, json::error_handler_t::replace));
}

// Long lists fold.
std::string list(const json& names) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> parts;
  for (const json& name : names) parts.push_back(plain(name));
  if (parts.size() <= kShown) return join(parts, "<br>");
  return "<details><summary>" + parts.front() + " and " + std::to_string(parts.size() - 1) +
         " more</summary>" + join(parts, "<br>") + "</details>";
}

class Table {
 public:
  explicit Table(std::vector<std::string> columns) {
    text_ = "<table>\n<tr>";
    for (const std::string& column : columns) text_ += "<th>" + column + "</th>";
    text_ += "</tr>\n";
  }
  Table& row() {
    text_ += open_ ? "</tr>\n<tr>" : "<tr>";
    open_ = true;
    ++rows_;
    return *this;
  }
  /// Markup.
  Table& cell(const std::string& markup) {
    text_ += "<td>" + markup + "</td>";
    return *this;
  }
  Table& value(const json& v) {
    text_ += (v.is_number() ? "<td class=\"n\">" : "<td>") + plain(v) + "</td>";
    return *this;
  }
  std::string take() {
    if (rows_ == 0) return "<p class=\"none\">none</p>\n";
    return text_ + "</tr>\n</table>\n";
  }

 private:
  std::string text_;
  bool open_ = false;
  int rows_ = 0;
};

// Of an object; an empty one where there is none.
const json& at(const json& object, const char* key) {
  static const json kNone = json::object();
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string heading(const std::string& title) { return "<h2>" + title + "</h2>\n"; }

std::string summary(const json& root) {
  Table t({"", ""});
  t.row().cell("chip").value(at(root, "soc_version"));
  for (const auto& [key, value] : at(root, "info").items()) t.row().cell(escaped(key)).value(value);
  const json& totals = at(root, "totals");
  for (const auto& [engine, count] : at(totals, "tasks").items())
    t.row().cell("tasks on " + escaped(engine)).value(count);
  t.row().cell("memory of activations (bytes)").value(at(totals, "arena_bytes"));
  t.row().cell("weights (bytes)").value(at(totals, "weight_bytes"));
  const json& saved = at(totals, "saved");
  t.row().cell("tasks saved by fusion").value(at(saved, "tasks"));
  t.row().cell("bytes not written to Global Memory").value(at(saved, "bytes_written"));
  t.row().cell("bytes not read from there").value(at(saved, "bytes_read"));
  return t.take();
}

std::string formed_by(const json& passes) {
  std::vector<std::string> parts;
  for (const json& p : passes) {
    const std::string fusion = p.value("fusion", "");
    parts.push_back(plain(at(p, "pass")) + (fusion.empty() ? "" : " (" + escaped(fusion) + ")"));
  }
  return join(parts, "<br>");
}

/// "m 128, n 256, k 64".
std::string tiling(const json& fields) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : fields.items()) parts.push_back(name + " " + value.dump());
  return join(parts, ", ");
}

/// "ND, FRACTAL_Z > FRACTAL_NZ": of what a task reads and of what it writes.
std::string formats(const json& task) {
  std::vector<std::string> sides;
  for (const char* key : {"input_formats", "output_formats"}) {
    std::vector<std::string> names;
    for (const json& format : at(task, key)) names.push_back(plain(format));
    sides.push_back(join(names, ", "));
  }
  return join(sides, " &gt; ");
}

std::string tasks(const json& root) {
  Table t({"#", "task", "operator", "engine", "kernel", "formats", "cores", "tiles", "tiling", "time (us)",
           "bound by", "ONNX nodes", "formed by", "tasks saved", "bytes saved"});
  int number = 0;
  for (const json& task : at(root, "tasks")) {
    const json& saved = at(task, "saved");
    t.row().value(number++).value(at(task, "name")).value(at(task, "op_type")).value(at(task, "engine"));
    t.value(task.contains("kernel") ? task["kernel"] : json()).cell(formats(task));
    for (const char* key : {"blocks", "tiles"}) t.value(task.contains(key) ? task[key] : json());
    const std::string tuned = task.value("tuned", false) ? ", tuned" : "";
    t.value(task.contains("tiling") ? json(tiling(task["tiling"]) + tuned) : json());
    for (const char* key : {"us", "bound_by"}) t.value(task.contains(key) ? task[key] : json());
    t.cell(list(at(task, "sources"))).cell(formed_by(at(task, "formed_by")));
    t.value(at(saved, "tasks"));
    t.value(saved.value("bytes_written", std::int64_t{0}) + saved.value("bytes_read", std::int64_t{0}));
  }
  return t.take();
}

std::string fusions(const json& root) {
  Table t({"group", "fusion", "found", "took effect"});
  for (const auto& [group, list] : at(root, "fusions").items())
    for (const auto& [name, count] : list.items())
      t.row()
          .cell(escaped(group))
          .cell(escaped(name))
          .value(at(count, "match_times"))
          .value(at(count, "effect_times"));
  return t.take();
}

std::string near_misses(const json& root) {
  Table t({"fusion", "at", "ONNX nodes", "reason"});
  for (const json& m : at(root, "near_misses"))
    t.row()
        .value(at(m, "fusion"))
        .cell(plain(at(m, "node")) + " (" + plain(at(m, "op_type")) + ")")
        .cell(list(at(m, "sources")))
        .value(at(m, "reason"));
  return t.take();
}

std::string precision(const json& root) {
  const json& precision = at(root, "precision");
  Table totals({"values narrowed", "constants narrowed", "Casts inserted"});
  totals.row();
  for (const char* key : {"narrowed_values", "narrowed_constants", "casts"}) totals.value(at(precision, key));
  Table t({"change", "value", "operator", "ONNX nodes", "reason"});
  for (const json& c : at(precision, "changes"))
    t.row()
        .value(at(c, "change"))
        .value(at(c, "value"))
        .value(at(c, "op_type"))
        .cell(list(at(c, "sources")))
        .value(at(c, "reason"));
  return totals.take() + t.take();
}

std::string share(const json& bytes, std::int64_t whole) {
  const double percent = whole > 0 ? 100.0 * bytes.get<double>() / static_cast<double>(whole) : 0;
  char text[96];
  std::snprintf(text, sizeof text, "<div class=\"bar\" style=\"width:%.2fem\"></div>%.1f %%", percent / 10,
                percent);
  return text;
}

std::string sizes(const json& root) {
  const json& size = at(root, "size");
  const std::int64_t whole = size.value("file_bytes", std::int64_t{0});
  Table partitions({"partition", "bytes", "of the file"});
  for (const json& p : at(size, "partitions"))
    partitions.row().value(at(p, "name")).value(at(p, "bytes")).cell(share(at(p, "bytes"), whole));
  Table weights({"dtype", "format", "tensors", "bytes", "of the file"});
  for (const json& w : at(size, "weights"))
    weights.row()
        .value(at(w, "dtype"))
        .value(at(w, "format"))
        .value(at(w, "tensors"))
        .value(at(w, "bytes"))
        .cell(share(at(w, "bytes"), whole));
  Table largest({"largest weights", "dtype", "format", "shape", "bytes"});
  for (const json& w : at(size, "largest_weights")) {
    largest.row();
    for (const char* key : {"name", "dtype", "format", "shape", "bytes"}) largest.value(at(w, key));
  }
  return "<p>" + grouped(whole) + " bytes</p>\n" + partitions.take() + weights.take() + largest.take();
}

// Whatever it is: objects as rows of names and values, lists of objects as tables.
std::string generic(const json& v) {
  if (v.is_object()) {
    Table t({"", ""});
    for (const auto& [key, value] : v.items()) t.row().cell(escaped(key)).cell(generic(value));
    return t.take();
  }
  if (!v.is_array() || v.empty() || !v.front().is_object()) return v.is_array() ? list(v) : plain(v);
  std::vector<std::string> columns;
  for (const auto& [key, value] : v.front().items()) columns.push_back(escaped(key));
  Table t(columns);
  for (const json& row : v) {
    t.row();
    for (const auto& [key, value] : v.front().items())
      t.cell(row.contains(key) ? generic(row[key]) : std::string());
  }
  return t.take();
}

struct Section {
  const char* key;
  const char* title;
  std::string (*show)(const json& root);
};
constexpr std::array<Section, 6> kSections = {{{"totals", "Summary", summary},
                                               {"tasks", "Tasks", tasks},
                                               {"fusions", "Fusions", fusions},
                                               {"near_misses", "Near misses", near_misses},
                                               {"precision", "Precision", precision},
                                               {"size", "Size of the .om", sizes}}};

bool has_own_form(std::string_view key) {
  for (const Section& s : kSections)
    if (key == s.key) return true;
  return key == "schema_version" || key == "model" || key == "soc_version" || key == "info";
}

}  // namespace

std::string html_report(std::string_view text) {
  const json root = json::parse(text);
  const std::string title = "Compilation report: " + plain(at(root, "model"));
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>" + title +
                    "</title>\n<style>" + std::string(kStyle) + "</style></head>\n<body>\n<h1>" + title +
                    "</h1>\n";
  for (const Section& s : kSections) out += heading(s.title) + s.show(root);
  for (const auto& [key, value] : root.items())
    if (!has_own_form(key)) out += heading(escaped(key)) + generic(value);
  return out + "</body>\n</html>\n";
}

}  // namespace atc::report
