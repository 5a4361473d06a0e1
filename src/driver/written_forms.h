#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::driver {

/// Nodes of an imported graph that together write out an operator which ATC users know as one: files name it
/// by its type, or by one of its nodes and the type ("Mul_105/Gelu").
struct WrittenForm {
  std::string_view type;               ///< "Gelu", "LayerNorm", "RmsNorm", "GroupNorm", "Swish"
  std::vector<const ir::Node*> nodes;  ///< in order of the data
};

/// All in the graph and its nested graphs:
/// - Gelu by Erf or by Tanh: x * 0.5 * (1 + erf(x / sqrt 2)) in any order of the factors;
/// - LayerNorm and RmsNorm by ReduceMean, with their weights where they are there;
/// - GroupNorm by Reshape, InstanceNormalization, Reshape, Mul, Add;
/// - Swish by Sigmoid and Mul.
std::vector<WrittenForm> written_forms(const ir::Graph& graph);

}  // namespace atc::driver
