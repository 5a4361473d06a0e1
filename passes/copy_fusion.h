#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Copies of copies of one value become one, which moves each box of elements straight to where it ends up:
///
///     r = Concat(Slice(x), Slice(x)){1}; s = Concat(Slice(r), Slice(r)){2};
///     y = Transpose(Reshape(s))                                 ->  y = atc.BoxCopy(x)
///
/// as torch.roll along several axes and windows of it are exported, forward and back. Slices (of step 1),
/// Split, Concat, Transpose and what keeps the order of elements, in ND; two Concats or Transposes at least,
/// fewer are one task already. Not where something else reads a value in between, where they read several
/// values, nor beyond 24 boxes.
Pass copy_fusion_pass();  ///< "copy-fusion"; changes: copies made

}  // namespace atc::passes
