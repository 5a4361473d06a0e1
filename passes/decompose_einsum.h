#pragma once

#include "atc/ir/graph.h"

namespace atc::passes {

/// Einsum of f32, f16 or bf16 operands as the operators that its equation stands for, operands contracted
/// from the left:
///
///     labels read twice in one term     ->  Reshape and a Slice along the diagonal
///     labels that nothing else needs    ->  ReduceSum
///     labels in both terms, not needed  ->  MatMul of [shared..., rows, k] and [shared..., k, columns], made
///     so
///                                           by Transpose and Reshape; Mul and ReduceSum without rows and
///                                           columns
///     no label to sum                   ->  Mul of operands that broadcast
///     the order of the output           ->  Transpose, Reshape
///
/// Must not fire on integers and f64, which no AI Core product has, nor on tensors without elements.
bool expand_einsum(ir::Graph& graph, ir::Node& node);

}  // namespace atc::passes
