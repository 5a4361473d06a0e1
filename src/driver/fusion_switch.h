#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "passes/switches.h"

namespace atc::driver {

/// The text of a switch file, in either of ATC's forms: JSON
/// {"Switch": {"GraphFusion": {"ALL": "off", "SomePass": "on"}, "UBFusion": {..}}}, or a line "SomePass:off"
/// for each pass. Names that no pass has are fine: they are ATC's own. E10001 with what is wrong where.
StatusOr<passes::Switches> parse_fusion_switch(std::string_view text, const std::string& file);

/// Names of passes that are switched off but always run. constant-folding is none of them: it keeps to what
/// kernels need then.
std::vector<std::string> always_on(const passes::Switches& switches);

/// "SomePass:on;Other:off". E10001.
StatusOr<passes::Switches> parse_optimization_switch(std::string_view text);

}  // namespace atc::driver
