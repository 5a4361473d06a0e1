#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Vector programs read the parts of a Slice or Split where they lie:
///
///   gates -> Split -> i, o, f, c -> atc::Fused(i, o, f, c)      =>      gates -> atc::Fused(gates x 4)
///   {views}
///
/// Runs when types and formats are settled. Does not fire where another node reads the part too, or it is an
/// output of the graph (the copy would stay); where the program reduces (its axes are walked as one); where
/// an operand of the program is in a blocked format; or where the part's rows are shorter than a burst pays
/// for.
Pass view_fusion_pass();

}  // namespace atc::passes
