#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Chooses storage formats and inserts conversions (atc.TransData):
///
///     x: ND -> atc.Conv -> y: ND   becomes   TransData(x) -> atc.Conv -> y: NC1HWC0 -> ... -> TransData ->
///     ND
///
/// Convolutions and windows work on NC1HWC0; vector programs, concatenations, splits and resizes
/// carry it on where their channels keep whole C0 blocks; everything else is ND. Inputs and outputs of the
/// model are ND. Constants are converted here, a value once for each format.
Pass layout_pass();  ///< "layout"; changes: TransData nodes and converted constants

}  // namespace atc::passes
