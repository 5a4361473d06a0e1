#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driver/opp_description.h"

namespace atc::driver {

/// One file of a generated project.
struct OppFile {
  std::filesystem::path path;  ///< below the project's folder
  std::string text;
  bool executable = false;
};

/// The files of a project in the usual layout: op_host, op_kernel, framework/onnx_plugin, tests, build.sh,
/// CMakeLists.txt and CMakePresets.json. With `add`, those of the operators only. `unit`: "ascend910b".
std::vector<OppFile> opp_files(const std::vector<OppDescription>& operators, const std::string& unit,
                               bool add);

/// Writes them. E13001 for a file that exists already and would be lost, unless it is `add` to a project.
Status write_opp_files(const std::vector<OppFile>& files, const std::filesystem::path& folder);

}  // namespace atc::driver
