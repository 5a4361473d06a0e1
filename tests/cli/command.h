#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace atc::cli {

struct Outcome {
  int code = -1;
  std::string out;  ///< standard output and error together
};

/// Runs a shell command in `folder`.
inline Outcome run(const std::string& command, const std::filesystem::path& folder) {
  Outcome o;
  FILE* pipe = popen(("cd '" + folder.string() + "' && (" + command + ") 2>&1").c_str(), "r");
  if (pipe == nullptr) return o;
  std::array<char, 4096> buffer;
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) o.out.append(buffer.data(), n);
  const int status = pclose(pipe);
  o.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return o;
}

/// One of the built programs.
inline std::string program(const std::string& name) { return std::string(ATC_BIN_DIR) + "/" + name; }

/// A model of the project's own models/ folder.
inline std::string model(const std::string& name) { return std::string(ATC_SOURCE_DIR) + "/models/" + name; }

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

/// A fresh folder that goes with the object.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "atc_cli_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::recursive_directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

/// The folder of shared test cases; empty when there is none.
inline std::filesystem::path cases() {
  if (const char* env = std::getenv("ATC_CASES")) return env;
  const std::filesystem::path beside = std::filesystem::path(ATC_SOURCE_DIR) / ".." / "shared" / "cases";
  return std::filesystem::exists(beside) ? beside : std::filesystem::path();
}

}  // namespace atc::cli
