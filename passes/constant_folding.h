#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Types the graph from its inputs, node by node, and replaces by constants what does not depend on them:
/// - integer outputs whose elements follow from shapes (Shape, Size and the arithmetic on them), without
///   their data;
/// - nodes with constant inputs only, through the operator's reference, unless the result is larger than
///   64 KiB and than four times the constants it comes from: a small model stays small. Such a node is still
///   evaluated when what is made of it is small again;
/// - `If` with a constant condition becomes the nodes of its branch.
/// Random operators, nodes with nested graphs and values in packed formats stay.
///
///     s = Shape(x: f32[2,3]); d = Gather(s, 0); r = Concat(d, [-1])    ->    r = [2,-1]
///
/// Switched off (Switches, by its name), it still folds what kernels need as constants: needed_constants.h.
///
/// Errors: those of infer_shapes.
Pass constant_folding_pass();  ///< "constant-folding"; changes: values made constant or typed anew, Ifs
                               ///< inlined

/// The same before the passes on quantized graphs: DequantizeLinear stays, for its 8-bit constant may be
/// multiplied as it is. What nothing multiplies is folded by the next run of the above.
Pass early_constant_folding_pass();  ///< "constant-folding"

}  // namespace atc::passes
