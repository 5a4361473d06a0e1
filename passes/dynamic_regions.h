#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Gathers what is not static into atc::Region nodes, which the runtime compiles when their shapes are
/// known: nodes whose input or output shapes depend on data, and control flow (If, Loop, Scan).
///
///   x -> NonZero -> Gather(table) -> ReduceSum -> Relu     =>     x, table -> Region -> Relu
///
/// Two such nodes share a region unless a static node lies between them. Constants of more than 1 KiB are
/// inputs of the region, so that they stay in WEIGHTS_DATA. Changes: nodes moved.
Pass dynamic_regions_pass();

}  // namespace atc::passes
