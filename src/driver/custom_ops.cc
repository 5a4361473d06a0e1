#include "driver/custom_ops.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "atc/base/strings.h"
#include "driver/log.h"
#include "driver/option_errors.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders = "ASCEND_CUSTOM_OPP_PATH";

std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  const char* list = std::getenv(kFolders);
  for (const std::string& folder : split(list == nullptr ? "" : list, ':'))
    if (!folder.empty()) out.emplace_back(folder);
  return out;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

StatusOr<fs::path> find_file(const std::string& path) {
  if (is_file(path)) return fs::path(path);
  if (fs::path(path).is_relative())
    for (const fs::path& folder : folders())
      if (is_file(folder / path)) return folder / path;
  return Status::error("E13000",
                       "File " + path + " of parameter --custom_op does not exist" +
                           (folders().empty() ? "" : ", nor in a folder of " + std::string(kFolders)))
      .solution("Check the path.");
}

std::string types_of(const custom::Library& library) {
  std::vector<std::string> types;
  for (const custom::OpInfo& op : library.info().ops) types.push_back(op.type);
  return join(types, ", ");
}

Status add_option(const CustomOpOption& option, passes::CustomOperators& out) {
  ATC_ASSIGN(const fs::path path, find_file(option.path));
  StatusOr<std::shared_ptr<custom::Library>> library = custom::Library::open(path);
  if (!library.ok()) return std::move(library).status().while_doing("loading --custom_op");
  if (option.type.empty()) {
    for (std::uint32_t i = 0; i < (*library)->info().ops.size(); ++i)
      out.entries.push_back({*library, i, true});
    return {};
  }
  const int op = (*library)->find(option.type);
  if (op < 0)
    return invalid_value("E10001", "custom_op", option.type + ":" + option.path,
                         "the library lists " + types_of(**library) + ", not " + option.type);
  out.entries.push_back({*library, static_cast<std::uint32_t>(op), true});
  return {};
}

/// Whatever loads and is a library of custom operators.
Status add_folder(const fs::path& folder, passes::CustomOperators& out) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".so" && is_file(entry.path())) files.push_back(entry.path());
  if (error) {
    log(LogLevel::Warning,
        std::string(kFolders) + ": folder " + folder.string() + " cannot be read: " + error.message());
    return {};
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const StatusOr<std::shared_ptr<custom::Library>> library = custom::Library::open(file);
    if (!library.ok()) {
      log(LogLevel::Info, "passed over " + file.string() + ": " + library.status().diagnostic().message);
      continue;
    }
    for (std::uint32_t i = 0; i < (*library)->info().ops.size(); ++i)
      out.entries.push_back({*library, i, false});
  }
  return {};
}

}  // namespace

StatusOr<std::vector<CustomOpOption>> parse_custom_op(std::string_view text) {
  std::vector<CustomOpOption> out;
  for (const std::string& part : split(text, ',')) {
    CustomOpOption& option = out.emplace_back();
    const std::string entry(trim(part));
    const std::size_t colon = entry.find(':');
    const bool typed = colon != std::string::npos;
    option.path = std::string(trim(typed ? std::string_view(entry).substr(colon + 1) : entry));
    if (typed) option.type = std::string(trim(std::string_view(entry).substr(0, colon)));
    if (option.path.empty() || (typed && option.type.empty()))
      return invalid_value("E10001", "custom_op", text, "'" + entry + "' is not Type:library or library");
    for (std::size_t i = 0; i + 1 < out.size(); ++i)
      if (typed && out[i].type == option.type)
        return invalid_value("E10001", "custom_op", text, "the type " + option.type + " appears twice");
  }
  return out;
}

StatusOr<passes::CustomOperators> load_custom_ops(const std::vector<CustomOpOption>& options) {
  passes::CustomOperators out;
  for (const CustomOpOption& option : options) ATC_TRY(add_option(option, out));
  for (const fs::path& folder : folders()) ATC_TRY(add_folder(folder, out));
  return out;
}

}  // namespace atc::driver
