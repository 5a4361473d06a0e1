#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "atc/base/status.h"

namespace atc::driver {

struct SubprocessResult {
  int code = 0;     ///< exit code; 128 + signal when a signal ended it
  std::string out;  ///< standard output, and standard error when `join_errors`
};

/// Runs a program (found by PATH) to its end. E10059 when it cannot be started.
StatusOr<SubprocessResult> run_subprocess(const std::vector<std::string>& arguments, bool join_errors = true);

/// The folder that holds the project's include/ folder, found from where the running program lies, or from
/// the environment variable ATC_HOME. E10059 when there is none.
StatusOr<std::filesystem::path> project_home();
/// The folder of the running program's libraries (the build folder).
std::filesystem::path library_folder();
/// What a program that runs kernels is linked with, for the compiler's command line.
std::vector<std::string> simulator_libraries();

}  // namespace atc::driver
