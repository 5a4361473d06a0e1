#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "atc/base/status.h"

namespace atc::driver {

/// An input or output as msopgen's JSON describes it. `types` and `formats` have one entry for each supported
/// combination; types are enumerators of ge ("DT_FLOAT16").
struct OppParam {
  std::string name;
  std::string kind;  ///< REQUIRED, OPTIONAL
  std::vector<std::string> types, formats;
};

struct OppAttr {
  std::string name;
  bool required = false;
  std::string setter;         ///< of OpAttrDef: "Float"
  std::string default_value;  ///< C++ text; empty: none
};

struct OppDescription {
  std::string type;  ///< "AddCustom"
  std::string file;  ///< "add_custom"
  std::vector<OppParam> inputs, outputs;
  std::vector<OppAttr> attrs;
};

/// Reads msopgen's JSON: a list of operators, or one. E10032 when it is no JSON, E14001 naming operator,
/// tensor and field for what is missing or unknown.
StatusOr<std::vector<OppDescription>> read_opp_json(const std::filesystem::path& path);

/// "AddCustom" to "add_custom": file and function names of an operator. Runs of capitals stay together:
/// "RMSNorm" to "rms_norm".
std::string snake_case(const std::string& type);

}  // namespace atc::driver
