#pragma once

#include <string>
#include <vector>

#include "atc/base/status.h"
#include "driver/options.h"

namespace atc::driver {

/// What a compilation leaves beside the file that it wrote.
struct CompileResult {
  std::vector<Diagnostic> warnings;  ///< printed after the success line, behind those of the options
  std::string console;  ///< printed before the end: graphs of --print-ir-after, times of --timing
};

/// Compiles options.model into options.om_output(): import, passes, plan, memory, writing; plus what the
/// options ask for beside it (--report, --dump-dir, fusion_result.json). Precondition: options come from
/// read_options with every check. Errors name the model, the node and what was expected; no file is left
/// behind on failure. May throw InternalError (a bug of ours) and std::bad_alloc.
Status compile(const CompileOptions& options, CompileResult& result);

}  // namespace atc::driver
