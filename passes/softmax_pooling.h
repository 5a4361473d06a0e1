#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Attention pooling written out becomes one operator that keeps weights and weighted values on the chip:
///
///     w = Softmax(s); y = ReduceSum(w * x)               [B, T, 1] * [B, T, D] over T
///     w = Softmax(s); y = MatMul(Transpose(w), x)        [B, 1, T] x [B, T, D]
///         ->    y = Reshape(atc.SoftmaxWeightedSum(x, Reshape(s)))
///
/// The softmax runs along the summed axis, or along the matrix's rows. Between softmax and product axes of
/// length 1 may come, go and move (Unsqueeze, Squeeze, Reshape, Transpose), and the weights may be expanded
/// to the values' shape; the sum keeps its axis or not. Not where the weights are as many as the values (one
/// program without this pass), where something else reads the products, where the values follow from the
/// weights, or where the product has more rows than one. Weights that something else reads, or the model
/// returns, are the operator's second output.
///
/// Constants weighed over channels, as detectors read distances off distributions, leave the cube:
///
///     y = Conv(Softmax(s), W) with W [1, C, 1, 1]        ->    y = ReduceSum(Softmax(s) * W), one vector
///     program
///
/// Not with a bias, several output channels, strides or pads.
Pass softmax_pooling_pass();  ///< "softmax-pooling"; changes: poolings made

}  // namespace atc::passes
