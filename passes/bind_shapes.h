#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"

namespace atc::passes {

/// Gives the open dims of the graph's inputs the numbers in `shapes` (input name -> dims; -1 leaves a dim
/// as the model has it). A symbol that several inputs share is bound in all of them. Types of other values
/// are left as they are: infer_shapes follows.
///
/// `option_name` is the option that the shapes came from ("input_shape"), for diagnostics:
/// E10016 no such input, E10017 the name is not an input, E10049 another rank, E10011 a dim < 1, E10001 a dim
/// that the model fixes, two values for one symbol, or a dim that stays open.
Status bind_input_shapes(ir::Graph& graph, const std::map<std::string, std::vector<std::int64_t>>& shapes,
                         const std::string& option_name);

}  // namespace atc::passes
