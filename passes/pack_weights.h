#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Constant operands of the cube take their packed form, and weights of depthwise windows theirs:
///
///     atc.Conv weight f16[O, I/g, KH, KW] ND   ->  f16[O, I/g', KH, KW] FRACTAL_Z (src/om/FORMAT.md)
///       (of an input in NC1HWC0_C04 FRACTAL_Z_C04)
///     atc.ConvTranspose weight [I, O/g, KH, KW]->  [O, I/g', KH, KW] FRACTAL_Z
///     atc.MatMul B [K, N]                      ->  [N, K] FRACTAL_Z
///     atc.DepthwiseConv weight [C, 1, KH, KW]  ->  ND [C1, KH*KW, 16]
///
/// Groups narrower than a C0 block are joined (zeros outside their own channels) until their channels
/// fill whole blocks; `group` is changed with them. Weights that are not constant take the same form by an
/// atc.TransData.
Pass pack_weights_pass();  ///< "pack-weights"; changes: weights packed

}  // namespace atc::passes
