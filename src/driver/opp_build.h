#pragma once

#include <filesystem>
#include <string>

#include "atc/base/status.h"

namespace atc::driver {

struct OppBuildOptions {
  std::filesystem::path project;  ///< with op_host/ and op_kernel/
  std::string compiler = "g++";
  bool keep = false;  ///< intermediate files
};

/// Builds a project of the usual layout, unchanged, into PROJECT/build_out/lib<project>.so, a library for
/// --custom_op. op_host and the ONNX plugin are compiled once; what they register says which kernels there
/// are, for which element types, and what their tiling structure is; each kernel is compiled for each
/// combination of types (DTYPE_X and its kin), its other symbols hidden. Each source in unit_test/ becomes a
/// program in build_out/ (atc_opp/unit_test.h). Gives the library's path.
/// E13000 for a folder without these parts, E20001 with the compiler's words, E40021 for what op_host
/// registers that makes no sense.
StatusOr<std::filesystem::path> build_opp(const OppBuildOptions& options);

}  // namespace atc::driver
