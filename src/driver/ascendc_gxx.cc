#include "driver/ascendc_gxx.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "atc/base/file.h"
#include "driver/header_copies.h"
#include "driver/subprocess.h"
#include "driver/tool_error.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelp =
    "ascendc-g++ [options of g++] FILE...\n"
    "Compiles sources in Ascend C (.cpp, .cc, .cxx, .asc) for the simulated AI Core: launches name<<<blocks, "
    "l2, "
    "stream>>>(...)\nare rewritten, our headers are found, programs are linked with the simulator. All "
    "arguments go to "
    "g++ (or to what CXX names).\n"
    "Programs run on the chip that ATC_SOC_VERSION names (Ascend910B3).\n";

bool is_source(const std::string& argument) {
  const std::string extension = fs::path(argument).extension().string();
  return !argument.starts_with("-") &&
         (extension == ".cpp" || extension == ".cc" || extension == ".cxx" || extension == ".asc");
}

/// A folder of its own that goes with the object.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "ascendc_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Those of -I, -iquote and -isystem, in both spellings.
std::vector<fs::path> include_folders(const std::vector<std::string>& arguments) {
  std::vector<fs::path> out;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for (const std::string option : {"-I", "-iquote", "-isystem"}) {
      if (arguments[i] == option && i + 1 < arguments.size())
        out.emplace_back(arguments[i + 1]);
      else if (arguments[i].starts_with(option) && arguments[i].size() > option.size())
        out.emplace_back(arguments[i].substr(option.size()));
    }
  return out;
}

StatusOr<int> run(const std::vector<std::string>& given) {
  ATC_ASSIGN(const fs::path home, project_home());
  const Scratch scratch;
  if (scratch.path().empty()) return Status::error("E13002", "No temporary folder can be made");
  const char* compiler = std::getenv("CXX");
  std::vector<std::string> arguments = {compiler != nullptr && *compiler != '\0' ? compiler : "g++"};
  const auto has = [&](const char* flag) {
    return std::find(given.begin(), given.end(), flag) != given.end();
  };
  if (std::none_of(given.begin(), given.end(), [](const std::string& a) { return a.starts_with("-std="); }))
    arguments.emplace_back("-std=c++17");
  // Lines for reports of crashes; a frame that is larger than the page below the stack must touch it.
  arguments.insert(arguments.end(), {"-g1", "-fstack-clash-protection"});
  for (const fs::path& folder : {home / "include", home / "include" / "opp", home / "include" / "ascendc"})
    arguments.push_back("-I" + folder.string());
  HeaderCopies headers(scratch.path(), include_folders(given));
  int number = 0;
  bool language_is_given = false, any_source = false;
  for (const std::string& a : given) {
    if (!is_source(a)) {
      arguments.push_back(a);
      continue;
    }
    any_source = true;
    ATC_ASSIGN(const Bytes bytes, map_file(a));
    ATC_ASSIGN(const std::string text,
               headers.rewrite({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, a));
    // The file's own folder is where its "..." includes are looked for; its name is the object's.
    const fs::path folder = scratch.path() / std::to_string(number++);
    std::error_code error;
    fs::create_directories(folder, error);
    const fs::path copy = folder / (fs::path(a).stem().string() + ".cpp");
    ATC_TRY(write_file(copy, text));
    const fs::path own = fs::path(a).parent_path();
    arguments.push_back("-iquote" + (own.empty() ? std::string(".") : own.string()));
    if (!language_is_given) arguments.insert(arguments.end(), {"-include", "atc_opp/host_launch.h"});
    language_is_given = true;
    arguments.push_back(copy.string());
  }
  const bool links = any_source && !has("-c") && !has("-S") && !has("-E") && !has("-fsyntax-only");
  if (links || (!any_source && !has("-c") && has("-o"))) {
    for (const std::string& library : simulator_libraries()) arguments.push_back(library);
  }
  ATC_ASSIGN(const SubprocessResult result, run_subprocess(arguments));
  std::fputs(result.out.c_str(), stderr);
  return result.code;
}

}  // namespace

int ascendc_gxx_main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.empty() || std::find(given.begin(), given.end(), "--help") != given.end()) {
    std::fputs(kHelp, given.empty() ? stderr : stdout);
    return given.empty() ? 1 : 0;
  }
  const StatusOr<int> code = run(given);
  if (code.ok()) return *code;
  std::fputs(tool_error_text("ascendc-g++", code.status()).c_str(), stderr);
  return 1;
}

}  // namespace atc::driver
