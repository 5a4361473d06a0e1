#pragma once

#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "driver/command_line.h"
#include "driver/options.h"

namespace atc::driver {

// Values of single options; each error names the option.

/// Kind, choices and range of the table's row. E10001 choice, E10003 integer, E10005 bool, E10006 switch.
Status check_value(const CommandLine& line, const OptionSpec& spec);
/// "node:0;node:1" or "out1;out2"; E10001 when empty entries or both forms are mixed.
StatusOr<std::vector<OutNode>> parse_out_nodes(std::string_view text);
/// "FP16" or "node:0:FP16;..."; E10001. The per-node form needs --out_nodes.
StatusOr<std::vector<OutputType>> parse_output_type(std::string_view text, bool has_out_nodes);
/// "in1;in2"; E10001 when an entry is empty.
StatusOr<std::vector<std::string>> parse_names(std::string_view option, std::string_view text);
/// Refuses paths that cannot name a file: E10021 too long, E10022 no file name.
Status check_output_path(std::string_view option, std::string_view path);

}  // namespace atc::driver
