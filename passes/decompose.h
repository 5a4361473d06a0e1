#pragma once

#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace atc::passes {

/// Rewrites operators into the forms that fusion and lowering know:
///
///     ReduceX                        ->  decompose_reduce.h
///     GlobalAveragePool/MaxPool      ->  ReduceMean/ReduceMax over the spatial axes
///     AveragePool/MaxPool of the whole plane -> the same
///     BatchNormalization (constants) ->  x * scale + shift; others: decompose_norms.h
///     Gemm                           ->  alpha * MatMul(A or its Transpose, B) + beta * C
///     MatMul of vectors              ->  Reshape, MatMul, Reshape
///     Einsum                         ->  decompose_einsum.h
///     Hardmax, EyeLike, CenterCropPad, AffineGrid -> decompose_index.h
///     InstanceNormalization, GroupNormalization, MeanVarianceNormalization, LRN -> decompose_norms.h
///     RotaryEmbedding -> decompose_rotary.h
///     Softmax before opset 13 stays: its vector form reduces the trailing axes.
Pass decompose_pass();  ///< "decompose"; changes: nodes rewritten

/// The ONNX operators that it rewrites, reductions apart, as they stand in its list of rules.
std::vector<std::string_view> decomposed_operators();

}  // namespace atc::passes
