#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Casts that the precision pass left as tasks of their own go into the task before them:
///
///     y = Fused(x); h = Cast(y)           ->  y, h = Fused(x){..., Cast}       epilogues alike
///     t = StridedView(x); y = Cast(t)     ->  y = Fused(x){Cast} walking x by the view's strides
///
/// The first stores one more output, within the limits of a vector program. The second fires only where the
/// copy is read by nobody else, is in row-major order and moves rows worth a burst; Transpose and Slice count
/// as views too. Known to users as TbeEltwiseCastFusionPass.
Pass cast_fusion_pass();  ///< "cast-fusion"; changes: Casts absorbed

}  // namespace atc::passes
