#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Group normalization as exporters write it becomes the operator:
///
///     r = Reshape(x) [N, G, ...]; i = InstanceNormalization(r, s, b)
///     y = Reshape(i) [N, C, ...] * scale + bias      ->    y = GroupNormalization(x, scale',
///     bias'){num_groups=G}
///
/// with scale' = s * scale and bias' = b * scale + bias, one of each a channel, all constant; scale and bias
/// may be missing. Not where the groups do not divide the channels, where a constant is not one number a
/// channel, or where something else reads a value in between.
Pass group_norm_fusion_pass();  ///< "group-norm-fusion"; changes: normalizations made

}  // namespace atc::passes
