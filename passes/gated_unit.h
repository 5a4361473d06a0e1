#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

inline constexpr std::string_view kSwiGlu = "SwiGlu";

/// An activation f(g) that is the gate of a gated unit f(g) * u.
struct GateOf {
  ir::Value* g = nullptr;
  std::vector<ir::Node*> nodes;  ///< of the activation
  std::string_view label;        ///< of the unit: kSwiGlu, "GeGlu", "ReGlu", "Glu"
};

/// Swish(g), g * Sigmoid(g), Gelu(g), Relu(g) or Sigmoid(g) in a value that one node reads.
std::optional<GateOf> gate_of(ir::Value* v);

}  // namespace atc::passes
