#pragma once

#include <string_view>

namespace atc::ops {

/// Domain of definitions that are known by their type alone: custom nodes of Ascend's own operators, which
/// exporters write into the default domain or into one of their own ("mmdeploy", "npu", ...). A definition
/// of the node's own domain goes first.
inline constexpr std::string_view kAnyDomain = "*";

}  // namespace atc::ops
