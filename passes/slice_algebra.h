#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Parts are taken where they come from, once, and in as few nodes as can be:
///
///     Slice(Slice(x)), Slice(part of Split(x))        ->  Slice(x)
///     Slice(Concat(a, b, ...)) inside one of them     ->  Slice(a), or a
///     Split(Concat(a, b)) at the same places          ->  a, b
///     Concat(x[0:2], x[2:5], y)                       ->  Concat(x[0:5], y); x itself where all is there
///     again Concat(Concat(a, b), c), one axis, read once    ->  Concat(a, b, c) Concat(a, nothing, b) ->
///     Concat(a, b) Gather(x, {2, 3, 4} or {1, 3, 5} or 2)          ->  Slice(x), and a Reshape for a scalar
///     index Expand(Expand(x))                               ->  Expand(x) Split(x) of which one part is read
///     ->  Slice(x) x[0:2], x[2:5], all of x                        ->  Split(x)
///
/// Exact in every type: elements are only moved. Bounds and indices have to be constant. The last rule does
/// not fire while a part would be left over, for it would be copied for nobody.
Pass slice_algebra_pass();  ///< "slice-algebra"; changes: nodes rewritten

}  // namespace atc::passes
