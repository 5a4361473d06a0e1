#pragma once

#include <functional>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"

namespace atc::ops {

/// The activation functions of a recurrent node in order (f, g, h of the first direction, then of the
/// second): `activations` or else `defaults` for each direction. activation_alpha and activation_beta are
/// consumed in order by those functions that have them; what is missing takes the function's default.
StatusOr<std::vector<std::function<double(double)>>> recurrent_activations(
    const ir::Node& node, const std::vector<std::string>& defaults, std::size_t directions);

}  // namespace atc::ops
