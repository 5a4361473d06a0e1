#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Vector programs, concatenations and conversions to blocks read what Slice, Split, Transpose and their kin
/// show of a tensor where it lies there:
///
///     gates -> Split -> i, o, f -> atc.Fused(i, o, f)         =>   gates -> atc.Fused(gates x 3) {parts}
///     x -> Reshape -> Transpose -> Slice -> t; Concat(s, t)   =>   atc.Concat(s, x) {parts}
///     x -> Transpose -> TransData -> NC1HWC0                  =>   x -> TransData {parts} -> NC1HWC0
///
/// Runs when types and formats are settled. Does not fire where another node reads the part too, or it is an
/// output of the graph (the copy would stay); where the program reduces (its axes are walked as one); where
/// it works on blocks that are not whole; where several read a part whose rows are shorter than a burst pays
/// for; and where a program would read single elements that lie apart along both of its tiles' axes.
Pass view_fusion_pass();  ///< "view-fusion"; changes: operands that are read in place

}  // namespace atc::passes
