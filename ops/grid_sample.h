#pragma once

#include "ops/lower.h"

// What both forms of GridSample, the reference and the lowering, need to know.
namespace atc::ops {

enum class GridMode { Linear, Nearest, Cubic };
enum class Padding { Zeros, Border, Reflection };

struct GridOptions {
  GridMode mode = GridMode::Linear;
  Padding padding = Padding::Zeros;
  bool align_corners = false;
};

/// The attributes of a node, in the words of its version.
StatusOr<GridOptions> grid_options(const ir::Node& node);

/// Floating data and grid, and no more taps than a vector program takes operands for: everything but cubic
/// sampling of volumes.
bool lowers_grid_sample(const ir::Node& node);
Status lower_grid_sample(LowerContext& ctx);

}  // namespace atc::ops
