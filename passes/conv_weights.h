#pragma once

#include <optional>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// `v`'s producer as a Conv or ConvTranspose whose weights, and bias if any, are constant; null otherwise.
ir::Node* constant_convolution(const ir::Value* v);

/// y = conv(x) becomes y = conv(x) * scale[c] + shift[c] for each output channel c, by new weights and bias.
/// An empty `scale` leaves the weights alone. Computed in double, rounded once to the weights' dtype.
/// Precondition: constant_convolution; scale (if not empty) and shift have a value a channel.
void fold_affine(ir::Graph& graph, ir::Node& conv, const std::vector<double>& scale,
                 const std::vector<double>& shift);

}  // namespace atc::passes
