#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// The gates of a recurrent cell written out share one product for each of what they read:
///
///     i = x W_i + h U_i + b_i; f = x W_f + h U_f + b_f; ...
///         ->    i, f, ... = Split(x [W_i W_f ...] + h [U_i U_f ...] + [b_i b_f ...])
///
/// with constant matrices and biases; the parts are read where they lie (view-fusion), so that the cell is
/// two products and one vector program. Cells that share their matrices go on sharing them. Not for sums of
/// fewer than two products, nor where something other than elementwise operators reads a gate.
Pass gate_merge_pass();  ///< "gate-merge"; changes: gates that went into another's products

}  // namespace atc::passes
