#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Parts of a tensor that are one stretch of it are kept inside it instead of being copied:
///
///     a, b -> Concat -> y     a's and b's nodes write into y:  Concat {in_place=[0,1]}, no task
///     x -> Split -> a, b      a and b are read from x:         Split {in_place=[0,1]}, no task
///     x -> Slice -> a         likewise
///
/// In NC1HWC0 that holds for channels in whole blocks of batch 1. A Concat whose first inputs are all that an
/// earlier one joined takes the earlier one's output instead, which then grows in place:
///
///     c = Concat(a, b); d = Concat(a, b, e)     =>     c = Concat(a, b); d = Concat(c, e)
///
/// Runs last, when types and formats are settled. A part keeps its copy where it is an input, an output or a
/// constant of the graph, or where it is a part of another value (or elsewhere in this one) already.
Pass in_place_parts_pass();  ///< "in-place-parts"; changes: parts kept in place and Concats shortened

}  // namespace atc::passes
