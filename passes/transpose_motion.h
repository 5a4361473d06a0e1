#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Transposes merge with one another, and move where that leaves fewer of them:
///
///     Transpose(Transpose(x))                                 ->  Transpose(x), or x
///     x -> Transpose -> Relu -> Softmax(-1) -> Transpose back ->  x -> Relu -> Softmax(axis)
///     Add(Transpose(a), Transpose(b)), the same order         ->  Transpose(Add(a, b))
///     Transpose(Gelu(MatMul(Transpose(x), W) + b))            ->  Gelu(MatMul(W^T, x) + b^T)
///
/// They move across elementwise operators (constants are turned at compile time), Softmax, reductions that
/// keep their axes, Concat, and products with constant matrices. The set of nodes that a Transpose can cross
/// is looked at as a whole, up to a bound: the Transposes that go are counted against those that have to come
/// where others read a value of the set or give it one. Exact; sums of a reduction keep their order of
/// elements along each axis.
Pass transpose_motion_pass();  ///< "transpose-motion"; changes: Transposes merged, sets of nodes turned

}  // namespace atc::passes
