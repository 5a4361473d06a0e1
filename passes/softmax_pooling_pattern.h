#pragma once

#include <optional>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Values weighed by a softmax and summed along the softmax's axis, as softmax_pooling.h draws it.
struct PoolingPattern {
  ir::Value* x = nullptr;  ///< the values
  ir::Node* softmax = nullptr;
  ir::Value* scores = nullptr;   ///< of the softmax; the elements of `weights` in their order
  Dims weights;                  ///< dims of the weights beside x, right-aligned; 1 where they are broadcast
  std::int64_t axis = 0;         ///< of x, that is summed
  std::vector<ir::Node*> nodes;  ///< last ones first; of what others read too, none
  bool shared = false;           ///< something else reads the weights: the softmax's result stays
};

/// The pattern that ends in this ReduceSum or MatMul.
std::optional<PoolingPattern> match_pooling(ir::Node& last);

}  // namespace atc::passes
