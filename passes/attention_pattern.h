#pragma once

#include <optional>
#include <vector>

#include "atc/ir/graph.h"
#include "kernels/attention.h"

namespace atc::passes {

/// What is added to scores: `value`, or its negative.
struct ScoreAddend {
  ir::Value* value = nullptr;
  bool negative = false;
  Dims scores;  ///< dims of the scores that it is added to
};

/// Of a Where that replaces scores: bool.
struct ScoreCondition {
  ir::Value* value = nullptr;
  bool keeps = false;  ///< true: the score stays where it holds; false: it is replaced there
  Dims scores;         ///< dims of the scores that it selects from
};

/// softmax(f(scale * Q K)) V as exporters write it. `q` is [..., S, D]; `k` is [..., D, T] where
/// `k_is_transposed`, else
/// [..., T, D].
struct AttentionPattern {
  ir::Node* product = nullptr;  ///< the MatMul with V
  ir::Value *q = nullptr, *k = nullptr, *v = nullptr;
  bool k_is_transposed = false;
  double scale = 1;
  double softcap = 0;
  std::vector<ScoreAddend> addends;
  bool addends_behind = false;  ///< they are added to `fill` too, where a condition hides a score
  std::vector<ScoreCondition> conditions;
  double fill = 0;                    ///< of all conditions
  bool hidden_rows_are_zero = false;  ///< NaN weights, of rows that see nothing, are replaced by 0
  Dims scores;                        ///< dims at the product of queries and keys, [..., S, T]
  std::vector<ir::Node*> nodes;       ///< all that the fused node stands for, `product` included
};

/// x when the node is x * c or x / c with a constant scalar c, which joins `scale`; else null.
ir::Value* unscaled(const ir::Node& node, double& scale);

/// The pattern that ends in this MatMul; nullopt when its first operand is no softmax of scaled and masked
/// scores that only this chain reads. Scale by Mul or Div before or after the product, on either operand;
/// masks by Add, Sub or Where, those of each kind one after the other; a soft cap by Tanh; Casts between
/// float types; Reshape of the leading axes between the product and the softmax; Where(IsNaN(w), 0, w) behind
/// it.
std::optional<AttentionPattern> match_attention(ir::Node& product);

}  // namespace atc::passes
