#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "atc/base/status.h"

namespace atc::driver {

/// `meta.json` of a case; every key is optional, unknown ones are notes for people.
struct CaseMeta {
  std::vector<std::string> options;  ///< for atc
  bool may_compile = true;           ///< "expect": "ok" (default), "error", "ok or error"
  bool may_refuse = false;           ///< also by "accept": "error"
  std::vector<std::string> mention;  ///< words that a refusal must contain
  std::optional<double> rtol, atol;
  std::optional<double> steps;                     ///< quantization steps; not beside rtol and atol
  std::optional<std::int64_t> max_artifact_bytes;  ///< "limits"
  std::optional<double> max_compile_seconds;
};

/// One `test_data_set_N`: its files in the order of N of input_N.pb and output_N.pb. An empty path: that
/// number is missing.
struct DataSet {
  std::string name;
  std::vector<std::filesystem::path> inputs, outputs;
};

/// A folder with `model.onnx`; paths are absolute.
struct CaseFolder {
  std::string name;  ///< of the folder
  std::filesystem::path path;
  std::vector<DataSet> data_sets;  ///< by number
};

/// The case folders named by `paths`: each is one, or is searched for them in sorted order. E13000 for a
/// path without any.
StatusOr<std::vector<CaseFolder>> find_cases(const std::vector<std::string>& paths);

/// Default values when the folder has no meta.json. E10032 when it cannot be understood.
StatusOr<CaseMeta> read_meta(const std::filesystem::path& folder);

/// Splits options as a shell does, as far as blanks, '...' and "..." go. E10001 for an open quote.
StatusOr<std::vector<std::string>> split_options(const std::string& text);

}  // namespace atc::driver
