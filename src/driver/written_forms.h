#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "atc/ir/graph.h"
#include "passes/switches.h"

namespace atc::driver {

/// Nodes of an imported graph that together write out an operator which ATC users know as one: files name it
/// by its type, or by one of its nodes and the type ("Mul_105/Gelu").
struct WrittenForm {
  std::string type;                    ///< "Gelu", "LayerNorm", "RmsNorm", "GroupNorm", "Swish", ...
  std::vector<const ir::Node*> nodes;  ///< of the graph and its nested graphs
  bool fuses = true;                   ///< not switched off: it is compiled as the one operator
};

/// What the passes that know written-out operators (passes::written_out_passes) find in a copy of the graph
/// whose inputs have the dims of `input_shapes` (--input_shape; what they leave open keeps everything behind
/// it unknown). Nothing where the graph cannot be typed: compiling it says why. Switches turn no recogniser
/// off here.
std::vector<WrittenForm> written_forms(
    const ir::Graph& graph, const std::map<std::string, std::vector<std::int64_t>>& input_shapes = {},
    const passes::Switches& switches = {});

}  // namespace atc::driver
