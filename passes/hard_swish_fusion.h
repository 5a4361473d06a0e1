#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Hard sigmoid and hard swish written out become the operators:
///
///     h = Clip(x + b, 0, m) * c,  c * m = 1                   ->    h = HardSigmoid(x){alpha=c, beta=b*c}
///     y = x * HardSigmoid(x){alpha=1/6, beta=0.5}             ->    y = HardSwish(x)
///     y = x * Clip(x + 3, 0, 6) / 6                           ->    y = HardSwish(x)
///
/// Products in any order and grouping, Div or Mul. Not where a constant is another one, or where something
/// else reads a value in between; a hard sigmoid that others read too stays one, next to its product.
Pass hard_swish_fusion_pass();  ///< "hard-swish-fusion"; changes: activations made

}  // namespace atc::passes
