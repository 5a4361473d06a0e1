#pragma once

#include <optional>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// A normalization over trailing axes as exporters write it out (norm_fusion.h).
struct NormPattern {
  ir::Value* x = nullptr;
  ir::Value* scale = nullptr;  ///< null: none. Both broadcast to x over the normalized axes alone
  ir::Value* bias = nullptr;
  bool centred = false;   ///< the mean is taken away first
  std::int64_t axis = 0;  ///< the first normalized one; -1 where they are not the trailing ones
  double epsilon = 0;
  ir::Node* last = nullptr;      ///< gives the normalized value
  std::vector<ir::Node*> nodes;  ///< all, last ones first; closed (`is_closed`)
};

/// The pattern around the root of a mean of squares: `root` is Sqrt or Pow with 0.5 or -0.5.
std::optional<NormPattern> match_norm(ir::Node& root);

}  // namespace atc::passes
