#pragma once

#include <unordered_set>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Which results of constants must be constants themselves, for kernels to be there, when constant folding is
/// switched off. Needed are
/// - integers and truth values: shapes, axes, indices, conditions, and the floats that they are computed
/// from;
/// - single numbers: epsilons, scales, bounds;
/// - what operators that are neither elementwise nor products read beside their data: weights of convolutions
/// and
///   recurrent networks, scales of Resize and of quantization;
/// - what nothing on the AI Core computes.
/// All else can be computed at run time: tables and weights that elementwise operators and products read.
class NeededConstants {
 public:
  explicit NeededConstants(const ir::Graph& graph);
  /// Precondition: the node's outputs are typed.
  bool contains(const ir::Node& node) const;

 private:
  bool is_parameter(const ir::Value::Use& use) const;

  const ir::Graph& graph_;
  std::unordered_set<const ir::Node*> derived_;  // that read nothing but constants and derived ones
  std::unordered_set<const ir::Node*> needed_;   // of these, by what reads them
};

}  // namespace atc::passes
