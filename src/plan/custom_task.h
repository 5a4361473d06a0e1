#pragma once

#include <vector>

#include "custom/manifest.h"
#include "ops/custom.h"
#include "soc/chip.h"

namespace atc::plan {

/// How a node atc::Custom is run.
struct CustomPlan {
  ops::CustomOperator op;
  std::uint32_t combination = 0;
  custom::Tiling tiling;
  std::vector<custom::TensorInfo> outputs;  ///< all that the operator has
};

/// Asks the node's library. Types are static, in ND, and those of a combination. E10055 when they are not,
/// E89999 when tiling asks for more than the chip has: blocks, blocks at once, workspace.
StatusOr<CustomPlan> plan_custom(const ir::Node& node, const soc::Chip& chip);

}  // namespace atc::plan
