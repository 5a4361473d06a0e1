#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"

namespace atc::passes {

/// No tensor may have more elements: far above any memory, and byte sizes stay well inside 64 bits.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;
/// False for a static shape with more elements than kMaxElements.
bool has_possible_size(const ir::TensorType& type);

/// Types nodes one after the other, from the types of their inputs alone, and remembers what is known of
/// the elements of small integer tensors. The engine of infer-shapes and constant-folding.
class ShapeInference {
 public:
  /// `root` is the whole graph to be typed; its inputs' symbols are never given to other dims.
  explicit ShapeInference(const ir::Graph& root);

  /// Sets dtype and shape of the node's outputs (formats stay) and of its nested graphs' values.
  /// Precondition: the operator is registered. Counts values whose type changed.
  Status infer(ir::Node& node);
  /// Inputs of the node typed last whose elements its inference asked for.
  const std::vector<bool>& consulted() const { return consulted_; }
  Status infer(ir::Graph& graph);

  /// Elements of `v` as far as they are known; null when nothing is. An element without a symbol is a
  /// plain integer, negative ones included.
  const ir::Shape* elements(const ir::Value* v) const;
  int changes() const { return changes_; }

 private:
  std::unordered_map<const ir::Value*, ir::Shape> elements_;
  std::vector<bool> consulted_;
  long next_symbol_ = 0;
  int changes_ = 0;
};

}  // namespace atc::passes
