#include "driver/support.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "atc/base/strings.h"

namespace atc::driver {
namespace {

std::string shown(const CommandLine& line, const OptionSpec& spec) {
  return "--" + std::string(spec.name) + "=" + std::string(line.given_text(spec.name));
}

/// The layout switches do nothing without the option that they refine, nor when all are false.
bool is_idle(const CommandLine& line, const OptionSpec& spec) {
  const bool input = spec.name == "is_input_adjust_hw_layout";
  if (!input && spec.name != "is_output_adjust_hw_layout") return false;
  return !line.given(input ? "input_fp16_nodes" : "out_nodes") ||
         line.text(spec.name).find("true") == std::string_view::npos;
}

Status check_static(const std::vector<InputShape>& shapes) {
  for (const InputShape& shape : shapes)
    for (std::size_t axis = 0; axis < shape.dims.size(); ++axis) {
      const DimBound& dim = shape.dims[axis];
      if (dim.is_static()) continue;
      std::string written = "-1";
      if (!dim.is_any()) written = std::to_string(dim.min) + "~" + std::to_string(dim.max);
      return Status::error("E10055", "--input_shape leaves dim " + std::to_string(axis) + " of the input " +
                                         shape.name + " open (" + written +
                                         "), dynamic shapes are not supported in this version.")
          .solution("Give the dim as a number; the same model can be compiled once for each shape.");
    }
  return {};
}

// No chip that is known has the type.
Status check_precision(const CommandLine& line) {
  const std::string_view mode = line.text("precision_mode_v2");
  if (mode != "mixed_hif8" && mode != "cube_hif8") return {};
  return Status::error("E10001", "Value " + std::string(mode) +
                                     " for parameter --precision_mode_v2 is invalid. Reason: " +
                                     std::string(line.text("soc_version")) + " has no hif8.")
      .solution("Use --precision_mode_v2=mixed_float16.");
}

}  // namespace

Status check_supported(const CommandLine& line, const std::vector<InputShape>& shapes) {
  std::vector<std::string> refused;
  std::vector<std::string> hints;
  for (const OptionSpec& spec : option_table()) {
    if (spec.support != Support::Refused || !line.changed(spec) || is_idle(line, spec)) continue;
    refused.push_back("--" + std::string(spec.name));
    const std::string hint(spec.hint);
    if (hints.empty() || hints.back() != hint) hints.push_back(hint);
  }
  if (!refused.empty())
    return Status::error("E10055", join(refused, ", ") + (refused.size() == 1 ? " is" : " are") +
                                       " not supported in this version.")
        .solution(join(hints, " "));
  ATC_TRY(check_precision(line));
  return check_static(shapes);
}

std::vector<Diagnostic> ignored_options(const CommandLine& line) {
  std::vector<Diagnostic> warnings;
  for (const OptionSpec& spec : option_table()) {
    if (spec.support != Support::Ignored || !line.changed(spec)) continue;
    Diagnostic& warning = warnings.emplace_back();
    warning.code = "W10001";
    warning.message = shown(line, spec) + " has no effect: " + std::string(spec.hint) + ".";
  }
  return warnings;
}

}  // namespace atc::driver
