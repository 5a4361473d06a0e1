#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Layer normalization over the trailing axes written out becomes the operator:
///
///     m = ReduceMean(x); d = x - m; v = ReduceMean(d^2)
///     y = d / Sqrt(v + e) * scale + bias               ->    y = LayerNormalization(x, scale,
///     bias){epsilon=e}
///
/// The square by Pow or Mul; v also as ReduceMean(x^2) - m^2, through Relu or Max(., 0) too; the quotient by
/// Div, Mul by the Reciprocal (of the Sqrt, or 1 / ., or Pow with -0.5), and as x * f + (bias - m * f) with f
/// = scale / Sqrt(v + e); Casts between float types on the way to the root. Scale and bias may be missing.
/// Not over other axes, not where something else reads a value in between, nor where m and v are of different
/// axes.
Pass layer_norm_fusion_pass();  ///< "layer-norm-fusion"; changes: normalizations made

/// The same of root mean square normalization:
///
///     y = x / Sqrt(ReduceMean(x^2) + e) * scale        ->    y = RMSNormalization(x, scale){epsilon=e}
///
/// where x is no difference to its mean.
Pass rms_norm_fusion_pass();  ///< "rms-norm-fusion"; changes: normalizations made

}  // namespace atc::passes
