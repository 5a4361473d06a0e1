#pragma once

#include <optional>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// y = x * scale + shift for each channel.
struct ChannelAffine {
  std::vector<double> scale, shift;
};

/// What a BatchNormalization in inference does: scale = s / sqrt(variance + epsilon), shift = B - mean *
/// scale. nullopt for other nodes, in training, with parameters of each activation or parameters that are not
/// constant.
std::optional<ChannelAffine> batch_norm_affine(const ir::Node& node);

}  // namespace atc::passes
