#include "driver/verify_case.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "atc/base/file.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// N of prefixNsuffix; nullopt for any other name. Bounded, as it becomes a list's length.
std::optional<std::size_t> number_in(const std::string& name, std::string_view prefix,
                                     std::string_view suffix) {
  if (name.size() <= prefix.size() + suffix.size() || !name.starts_with(prefix) || !name.ends_with(suffix))
    return std::nullopt;
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size() - suffix.size();
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end && number < 10000 ? std::optional(number) : std::nullopt;
}

void place(std::vector<fs::path>& list, std::size_t number, const fs::path& path) {
  if (list.size() <= number) list.resize(number + 1);
  list[number] = path;
}

std::vector<fs::directory_entry> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) entries.push_back(entry);
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<DataSet> data_sets_of(const fs::path& folder) {
  std::vector<std::pair<std::size_t, DataSet>> numbered;
  for (const fs::directory_entry& entry : sorted_entries(folder)) {
    const std::string name = entry.path().filename().string();
    const auto number = number_in(name, "test_data_set_", "");
    if (!number) continue;
    DataSet set;
    set.name = name;
    for (const fs::directory_entry& file : sorted_entries(entry.path())) {
      const std::string file_name = file.path().filename().string();
      if (const auto n = number_in(file_name, "input_", ".pb")) place(set.inputs, *n, file.path());
      if (const auto n = number_in(file_name, "output_", ".pb")) place(set.outputs, *n, file.path());
    }
    numbered.emplace_back(*number, std::move(set));
  }
  std::sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<DataSet> sets;
  for (auto& [number, set] : numbered) sets.push_back(std::move(set));
  return sets;
}

void collect(const fs::path& folder, int depth, std::vector<CaseFolder>& cases) {
  std::error_code error;
  if (fs::is_regular_file(folder / "model.onnx", error)) {
    cases.push_back({folder.filename().string(), folder, data_sets_of(folder)});
    return;
  }
  if (depth == 0) return;
  for (const fs::directory_entry& entry : sorted_entries(folder))
    if (entry.is_directory(error)) collect(entry.path(), depth - 1, cases);
}

Status bad_meta(const fs::path& file, const std::string& what) {
  return Status::error("E10032", file.string() + ": " + what);
}

std::vector<std::string> string_list(const json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  return value.get<std::vector<std::string>>();
}

CaseMeta meta_from(const json& j) {
  CaseMeta meta;
  if (j.contains("options")) meta.options = string_list(j["options"]);
  if (j.contains("mention")) meta.mention = string_list(j["mention"]);
  const std::string expect = j.value("expect", "ok");
  meta.may_compile = expect.find("ok") != std::string::npos;
  meta.may_refuse = expect.find("error") != std::string::npos;
  if (j.contains("accept"))
    for (const std::string& outcome : string_list(j["accept"])) {
      meta.may_compile |= outcome.find("ok") != std::string::npos;
      meta.may_refuse |= outcome.find("error") != std::string::npos;
    }
  if (j.contains("rtol")) meta.rtol = j["rtol"].get<double>();
  if (j.contains("atol")) meta.atol = j["atol"].get<double>();
  if (j.contains("steps")) meta.steps = j["steps"].get<double>();
  if (j.contains("limits")) {
    const json& limits = j["limits"];
    if (limits.contains("max_artifact_bytes"))
      meta.max_artifact_bytes = limits["max_artifact_bytes"].get<std::int64_t>();
    if (limits.contains("max_compile_seconds"))
      meta.max_compile_seconds = limits["max_compile_seconds"].get<double>();
  }
  return meta;
}

}  // namespace

StatusOr<std::vector<CaseFolder>> find_cases(const std::vector<std::string>& paths) {
  constexpr int kDepth = 8;
  std::vector<CaseFolder> cases;
  for (const std::string& path : paths) {
    const std::size_t before = cases.size();
    fs::path folder = fs::absolute(path).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();  // "cases/"
    collect(folder, kDepth, cases);
    if (cases.size() == before)
      return Status::error("E13000", "there is no folder with a model.onnx in '" + path + "'");
  }
  return cases;
}

StatusOr<CaseMeta> read_meta(const fs::path& folder) {
  const fs::path file = folder / "meta.json";
  std::error_code error;
  if (!fs::exists(file, error)) return CaseMeta();
  ATC_ASSIGN(const Bytes bytes, map_file(file));
  const char* text = reinterpret_cast<const char*>(bytes.data());
  const json parsed = json::parse(text, text + bytes.size(), nullptr, false);
  if (!parsed.is_object()) return bad_meta(file, "it is not a JSON object");
  try {
    CaseMeta meta = meta_from(parsed);
    if (!meta.may_compile && !meta.may_refuse) return bad_meta(file, "'expect' is neither ok nor error");
    if (meta.steps && (meta.rtol || meta.atol))
      return bad_meta(file, "'steps' stands beside 'rtol' or 'atol'; leave one of them out");
    if (meta.steps && !(*meta.steps > 0)) return bad_meta(file, "'steps' must be positive");
    return meta;
  } catch (const json::exception& wrong_type) {
    return bad_meta(file, wrong_type.what());
  }
}

StatusOr<std::vector<std::string>> split_options(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word.push_back(c);
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word.push_back(c);
      in_word = true;
    }
  }
  if (quote != '\0') return Status::error("E10001", "--atc has an open quote: " + text);
  if (in_word) words.push_back(word);
  return words;
}

}  // namespace atc::driver
