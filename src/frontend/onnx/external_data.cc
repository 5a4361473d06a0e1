#include "frontend/onnx/external_data.h"

#include <algorithm>

#include "atc/base/file.h"

namespace atc::frontend {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto end = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end.first == folder.end();
}

}  // namespace

StatusOr<fs::path> ExternalFiles::resolve(const std::string& location, const std::string& who) const {
  const auto refuse = [&](const std::string& why) {
    return context_.fault(who + ": external data location '" + location + "' " + why)
        .solution("Keep external data files in the folder of the model, or below it.");
  };
  if (location.empty()) return context_.fault(who + ": external data without a location");
  if (location.find('\0') != std::string::npos) return refuse("is not a file name");
  const fs::path relative(location);
  if (relative.is_absolute() || relative.has_root_path()) return refuse("is an absolute path");
  const fs::path normal = relative.lexically_normal();
  if (!normal.empty() && *normal.begin() == "..") return refuse("leaves the folder of the model");

  // The final word is on the path behind all symbolic links.
  std::error_code error;
  const fs::path folder = fs::canonical(base_dir_, error);
  if (error) return Status::error("E13000", "the folder of model " + context_.file + " does not exist");
  const fs::path resolved = fs::canonical(base_dir_ / normal, error);
  if (error)
    return Status::error("E13000", who + " of model " + context_.file + ": external data file '" + location +
                                       "' cannot be found in '" + base_dir_.string() +
                                       "': " + error.message())
        .solution("Put the file beside the model, under the name with which the model was saved.");
  if (!is_inside(resolved, folder)) return refuse("is a link that leaves the folder of the model");
  if (!fs::is_regular_file(resolved, error)) return refuse("is not a regular file");
  return resolved;
}

StatusOr<Bytes> ExternalFiles::open(const std::string& location, const std::string& who) {
  if (const auto known = by_location_.find(location); known != by_location_.end()) return known->second;
  ATC_ASSIGN(const fs::path path, resolve(location, who));
  auto mapped = by_path_.find(path);
  if (mapped == by_path_.end()) {
    auto bytes = map_file(path);
    if (!bytes.ok())
      return std::move(bytes).status().while_doing("while reading external data of " + who + " of model " +
                                                   context_.file);
    mapped = by_path_.emplace(path, std::move(bytes).value()).first;
  }
  by_location_.emplace(location, mapped->second);
  return mapped->second;
}

}  // namespace atc::frontend
