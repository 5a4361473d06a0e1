#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Stores activations between matrix products, attentions and vector programs in FRACTAL_NZ where that is
/// cheaper on the chip (fractal_choice.h); no conversion is inserted for them. Behind all passes that make or
/// join tasks, among what `layout` left row-major. Does nothing when no chip is known.
///
///     atc.MatMul -> x -> atc.MatMul     =>     atc.MatMul -> x: FRACTAL_NZ -> atc.MatMul
///     x -> Reshape -> atc.MatMul {one matrix} -> atc.Attention     =>     x -> atc.MatMul -> atc.Attention
///     atc.Attention -> [B,S,H,D] -> Reshape -> [B,S,H*D]     =>     atc.Attention {shape} -> [B,S,H*D]
Pass fractal_layout_pass();  ///< "fractal-layout"; changes: values in FRACTAL_NZ, reshapes taken over

}  // namespace atc::passes
