#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Normalizations and activations of the model become the user's operators of these types:
///
///     RMSNormalization(x, g)               ->  RmsNorm(x, g) {epsilon}
///     LayerNormalization(x, g, b)          ->  LayerNorm(x, g, b) {epsilon}
///     RMSNormalization(a + b, g)           ->  AddRmsNorm(a, b, g) {epsilon}
///     LayerNormalization(a + b, g, b)      ->  AddLayerNorm(a, b, g, b) {epsilon}
///     Gelu(x)                              ->  Gelu(x) {approximate}
///
/// What the model writes out counts too: the pipeline's own recognisers (norm_fusion.h, add_norm_fusion.h,
/// gelu_fusion.h) make the operators first, whatever the switches say; so they do of Swish and Softmax where
/// an operator takes subgraphs with these (custom_subgraphs.h). The sum of the Add forms is the operator's
/// output named `x`; where it has none and others read the sum, the plain form is taken. Normalized axes are
/// joined to the last one. Not where an operator lacks an attribute: a near miss says so. Static shapes.
Pass custom_norms_pass();  ///< "custom-norms"; changes: operators made and taken

}  // namespace atc::passes
