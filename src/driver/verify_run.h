#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driver/verify_case.h"

namespace atc::driver {

enum class CaseStatus { Pass, Fail, Unsupported, Error };
std::string_view name(CaseStatus status);  ///< "PASS", "FAIL", "UNSUPPORTED", "ERROR"

/// What `omverify` was asked for, for all cases.
struct VerifyOptions {
  std::string soc_version = "Ascend910B3";
  std::string precision = "origin";  ///< or "fp16"; options of the case or of `atc` win
  std::vector<std::string> atc;      ///< more options of atc, after those of the case
  double rtol = 1e-3, atol = 1e-4;
  std::optional<double> steps;  ///< compare by quantization steps instead, unless the case has a tolerance
  int threads = 1;              ///< of the compiler and of the run
};

struct CaseResult {
  CaseStatus status = CaseStatus::Error;
  std::string reason;  ///< "" when it simply passed
  double max_abs = 0;  ///< worst over outputs and data sets
  double max_rel = 0;
  double min_cosine = 1;
  double beyond_steps = 0;  ///< compared by steps: the worst share of elements that were further off
  double compile_ms = 0;    ///< sum over data sets that needed their own compilation
  double run_ms = 0;        ///< sum of the runs
};

/// Compiles, runs and compares one case in this process. `scratch` is an empty folder of its own, which
/// becomes the working directory.
CaseResult verify_case(const CaseFolder& folder, const VerifyOptions& options,
                       const std::filesystem::path& scratch);

/// True for codes of refusals that name something not supported (an operator, an option, a form of
/// input), as opposed to a faulty model.
bool is_unsupported_code(std::string_view code);

}  // namespace atc::driver
