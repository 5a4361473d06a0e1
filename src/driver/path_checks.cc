#include "driver/path_checks.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

std::string subject(std::string_view option, const fs::path& path) {
  return "The file '" + path.string() + "' of --" + std::string(option);
}

}  // namespace

Status check_input_file(std::string_view option, const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Status::error("E13000", subject(option, path) + " does not exist.");
  if (fs::is_directory(status))
    return Status::error("E13000", subject(option, path) + " is a folder, a file is expected.");
  if (::access(path.c_str(), R_OK) != 0)
    return Status::error("E13001", subject(option, path) + " cannot be read: permission denied.");
  return {};
}

Status check_output_file(std::string_view option, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return Status::error("E13001", subject(option, path) + " is a folder, a file name is expected.");
  fs::path folder = path.parent_path();
  while (!folder.empty() && !fs::exists(folder, error)) {
    const fs::path parent = folder.parent_path();
    if (parent == folder) break;
    folder = parent;
  }
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, error))
    return Status::error(
        "E13001", subject(option, path) + " cannot be created: '" + folder.string() + "' is not a folder.");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return Status::error("E13001", subject(option, path) + " cannot be created: the folder '" +
                                       folder.string() + "' cannot be written.");
  return {};
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;  // also through hard links
  const auto whole = [](const fs::path& path) {
    std::error_code ignored;
    const fs::path absolute = fs::absolute(path, ignored);
    const fs::path real = fs::weakly_canonical(absolute, ignored);
    return (ignored ? absolute : real).lexically_normal();
  };
  return whole(a) == whole(b);
}

fs::path fusion_result_path() {
  const char* work = std::getenv("ASCEND_WORK_PATH");
  const fs::path name = "fusion_result.json";
  if (work == nullptr || *work == '\0') return name;
  return fs::path(work) / "FE" / std::to_string(::getpid()) / name;
}

Status create_folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return {};
  fs::create_directories(folder, error);
  if (!error) return {};
  return Status::error("E13002",
                       "The folder '" + folder.string() + "' cannot be created: " + error.message() + ".");
}

}  // namespace atc::driver
