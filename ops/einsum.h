#pragma once

#include <string_view>
#include <vector>

#include "ops/op.h"

namespace atc::ops {

/// An Einsum equation, resolved for operands of given ranks. Labels are numbered 0, 1, ... in the order in
/// which the standard's loops nest: ellipsis axes (outermost first), then letters alphabetically.
struct EinsumEquation {
  int label_count = 0;
  std::vector<std::vector<int>> operands;  ///< one label an axis; a repeated one means the diagonal
  std::vector<int> output;
};

/// An error (E16006, with the node's label) names what is wrong in the equation.
StatusOr<EinsumEquation> parse_einsum(const ir::Node& node, const std::vector<std::size_t>& ranks);

}  // namespace atc::ops
