#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A vector program that works element by element on what is only seen differently moves in front of the
/// views, where it becomes the epilogue of the node that makes the elements:
///
///     a = atc.Conv(x, W); r = Reshape(a); t = Transpose(r); y = atc.Fused(t){Sigmoid}
///  => a = atc.Conv(x, W); s = atc.Fused(a){Sigmoid}; r = Reshape(s); y = Transpose(r)
///
/// Does not fire where anything else reads a, r or t, or they are outputs of the graph; nor for programs with
/// another operand that is not a single element, with several outputs, reductions or views.
Pass program_motion_pass();  ///< "program-motion"; changes: programs moved

}  // namespace atc::passes
