#pragma once

#include <optional>
#include <unordered_map>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Evaluates nodes whose inputs are constants, and decides which results are worth keeping.
class ConstantEvaluator {
 public:
  /// `keep_dequantize`: DequantizeLinear is not evaluated, so that 8-bit weights are still there for the
  /// passes that multiply them as they are.
  explicit ConstantEvaluator(const ir::Graph& graph, bool keep_dequantize = false);

  /// The node's outputs when all inputs are constants or were deferred, and the result is small enough to
  /// be kept; nullopt otherwise. A node that is computable but too large is remembered as deferred: nodes
  /// that make something small of it can still be evaluated.
  /// Precondition: the outputs are typed.
  std::optional<std::vector<Tensor>> fold(const ir::Node& node);

 private:
  bool computable(const ir::Node& node) const;
  bool is_source(const ir::Value* v) const { return v->is_constant() || deferred_bytes_.contains(v); }
  std::int64_t source_bytes(const ir::Node& node) const;
  std::optional<std::vector<Tensor>> evaluate(const ir::Node& node, int depth);
  /// The value of a deferred output: evaluated once while the memory for it lasts.
  std::optional<Tensor> deferred(const ir::Value& v, int depth);

  /// Outputs of deferred nodes -> bytes of the constants that they come from.
  std::unordered_map<const ir::Value*, std::int64_t> deferred_bytes_;
  std::unordered_map<const ir::Node*, std::vector<Tensor>> deferred_results_;
  std::int64_t deferred_held_bytes_ = 0;
  std::int64_t result_limit_ = 0;
  bool keep_dequantize_ = false;
};

/// Bytes that a tensor of this type takes; nullopt when not static or too large for int64.
std::optional<std::int64_t> static_bytes(const ir::TensorType& type);

}  // namespace atc::passes
