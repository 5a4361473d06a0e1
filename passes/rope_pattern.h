#pragma once

#include <optional>
#include <vector>

#include "passes/strided_view.h"

namespace atc::passes {

/// Rotary position embedding as exporters write it out (rope_fusion.h): y = x * cos + rotated(x) * sin over
/// the last axis, which holds two parts of h elements each.
struct RopePattern {
  ir::Value* x = nullptr;                     ///< [..., 2h]; null in the form that reads the parts alone
  ir::Value *low = nullptr, *high = nullptr;  ///< the parts, [..., h]
  StridedView low_view;
  std::int64_t apart = 0;    ///< from `low` to `high` in the base of `low_view`, in elements
  bool interleaved = false;  ///< the parts are even and odd elements, else halves
  ir::Value *cos = nullptr, *sin = nullptr;
  bool half_tables = false;      ///< cos and sin are [..., h], the same for both parts
  std::vector<ir::Node*> nodes;  ///< all of it; what else reads them keeps them
};

/// The pattern that ends in this Add, Concat or Reshape.
std::optional<RopePattern> match_rope(ir::Node& last);

}  // namespace atc::passes
