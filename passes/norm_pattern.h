#pragma once

#include <optional>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// A normalization over trailing axes as exporters write it out (norm_fusion.h).
struct NormPattern {
  ir::Value* x = nullptr;
  /// Null: none. Both broadcast to x over the normalized axes alone, or, `by_channel`, over axis 1 alone.
  ir::Value* scale = nullptr;
  ir::Value* bias = nullptr;
  bool by_channel = false;  ///< an instance normalization: over all axes from 2 on
  bool centred = false;     ///< the mean is taken away first
  std::int64_t axis = 0;    ///< the first normalized one; -1 where they are not the trailing ones
  double epsilon = 0;
  ir::Node* last = nullptr;      ///< gives the normalized value
  std::vector<ir::Node*> nodes;  ///< all, last ones first; closed (`is_closed`)
};

/// The pattern around the root of a mean of squares: `root` is Sqrt or Pow with 0.5 or -0.5.
std::optional<NormPattern> match_norm(ir::Node& root);

}  // namespace atc::passes
