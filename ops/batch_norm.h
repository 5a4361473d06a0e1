#pragma once

#include "atc/ir/graph.h"

namespace atc::ops {

/// True when a BatchNormalization uses the batch's own statistics: training_mode (14 on), more than one
/// output (7 to 13), is_test = 0 (before 7).
bool is_training_batch_norm(const ir::Node& node);

/// Up to version 8, spatial = 0 normalizes each activation of C,D1,D2,... by itself.
bool is_per_activation_batch_norm(const ir::Node& node);

}  // namespace atc::ops
