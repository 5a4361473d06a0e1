#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Products of one value with several constant matrices become one product with the matrices side by side:
///
///     q = atc.MatMul(x, Wq, bq); k = atc.MatMul(x, Wk, bk); v = ...    ->    y = atc.MatMul(x, [Wq Wk Wv],
///     [bq bk bv]) atc.Attention(q, k, v)                                           ->    atc.Attention(y, y,
///     y), views moved
///
/// Nothing is copied: all that reads the products reads through strided views (atc.Attention), which then
/// step over the wider rows. Epilogues are empty or add one constant row, all alike. Not where another node
/// reads one of the products, or where it is an output of the model.
Pass matmul_merge_pass();  ///< "matmul-merge"; changes: products that went into another

}  // namespace atc::passes
