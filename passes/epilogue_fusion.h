#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A vector program that reads what the cube (or a window) has just computed becomes its epilogue:
///
///     a = atc.Conv(x, W); y = atc.Fused(a, r){Add, Relu}  ->  y = atc.Conv(x, W, r){epilogue = Add, Relu}
///
/// The program reduces nothing, spans the accumulator's shape, and its other operands are of that shape,
/// one value a channel (columns for products), or single. An accumulator that others read too is stored
/// as well.
Pass epilogue_fusion_pass();  ///< "epilogue-fusion"; changes: programs absorbed

}  // namespace atc::passes
