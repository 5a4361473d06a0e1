#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A Pad of the spatial axes goes into the pads of the convolution or pool that reads it:
///
///     y = Conv(Pad(x, 0), W){pads}      ->  y = Conv(x, W){pads + those of Pad}        PadConv2dFusionPass
///     y = MaxPool(Pad(x, -inf))         ->  y = MaxPool(x){pads + those of Pad}        PadMaxPoolFusionPass
///     y = AveragePool(Pad(x, 0))        ->  y = AveragePool(x){..., count_include_pad = 1}
///
/// Only a constant mode with the value that the reader takes its own pads for: 0; for MaxPool -inf, or any
/// value that nothing in x is below (0 behind Relu). Each window of a pool must have an element of x.
/// AveragePool must count its own pads too, or have none, and must not round its output size up. Pads that
/// crop, and pads of other axes, stay.
Pass pad_fusion_pass();  ///< "pad-fusion"; changes: Pads absorbed

}  // namespace atc::passes
