#pragma once

#include "atc/ir/graph.h"

namespace atc::passes {

/// True when the node can take and give NC1HWC0 without splitting a C0 block: vector programs whose operands
/// are full, per channel or single, none of an 8-bit type; Concat and Split at whole blocks (or along other
/// axes); Resize of spatial axes.
bool carries_blocked_channels(const ir::Node& node);

/// True when the vector program can store its output in NC1HWC0_C04 (at most four channels), whatever the
/// formats and types of its operands.
bool stores_small_channels(const ir::Node& node);

/// Inputs that are parameters (axes, sizes, pads), not data in the node's format.
bool is_parameter(const ir::Node& node, std::size_t input);

}  // namespace atc::passes
