#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Rewrites operators into the forms that fusion and lowering know:
///
///     ReduceX(keepdims=0)            ->  Reshape(ReduceX(keepdims=1))
///     GlobalAveragePool/MaxPool      ->  ReduceMean/ReduceMax over the spatial axes
///     BatchNormalization (constants) ->  x * scale + shift
///     Gemm                           ->  alpha * MatMul(A or its Transpose, B) + beta * C
///     MatMul of vectors              ->  Reshape, MatMul, Reshape
///     Softmax before opset 13 stays: its vector form reduces the trailing axes.
Pass decompose_pass();  ///< "decompose"; changes: nodes rewritten

}  // namespace atc::passes
