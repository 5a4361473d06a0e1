#pragma once

#include <optional>
#include <vector>

#include "atc/ir/graph.h"

/// Subgraphs that custom operators may take, in the form in which exporters write them after
/// canonicalisation. Each function looks at the node that makes the result; shapes are static. Values between
/// the nodes are read by nobody else.
namespace atc::passes {

/// y = x * cos + rotated(x) * sin, where rotated(x) is Concat(-x[h:], x[:h]) of the last axis.
struct RopePattern {
  ir::Value *x = nullptr, *cos = nullptr, *sin = nullptr;
  std::vector<ir::Node*> nodes;  ///< all that it stands for, the last one first
};
std::optional<RopePattern> match_rope(ir::Node& add);

/// y = gate * Sigmoid(gate) * up.
struct SwigluPattern {
  ir::Value *gate = nullptr, *up = nullptr;
  ir::Value* joined =
      nullptr;  ///< the value whose halves of the last axis are gate and up; null: there is none
  std::vector<ir::Node*> nodes;
};
std::optional<SwigluPattern> match_swiglu(ir::Node& mul);

/// y = x / sqrt(mean(x * x over the last axis) + epsilon) * gamma.
struct RmsNormPattern {
  ir::Value *x = nullptr, *gamma = nullptr;
  double epsilon = 0;
  std::vector<ir::Node*> nodes;
};
std::optional<RmsNormPattern> match_rms_norm(ir::Node& mul);

}  // namespace atc::passes
