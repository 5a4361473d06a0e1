#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A Concat reads parts of other values where they lie:
///
///     a, b = Split(x); y = Concat(b, a)                     ->  y = atc.ConcatViews(x, x)
///     y = Concat(x[::2, ::2], x[1::2, ::2], ...)            ->  y = atc.ConcatViews(x, x, ...)
///
/// Runs when types and formats are settled, on Slice, the parts of Split, Transpose and Reshapes around them,
/// in row-major order. Fires where it spares a copy: nobody but Concats reads the part, of a Split none of
/// its parts. Known to users as StridedSliceConcatFusionPass.
Pass concat_views_pass();  ///< "concat-views"; changes: Concats that read in place

}  // namespace atc::passes
