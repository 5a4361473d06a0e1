#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Groups elementwise operators and reductions along one group of axes into vector programs:
///
///     a = Mul(x, s); b = Add(a, t); y = Tanh(b)   ->   y = atc.Fused(x, s, t){body = Mul, Add, Tanh}
///     m = ReduceMean(x); d = Sub(x, m); ...       ->   one atc.Fused for the whole normalisation
///
/// A group has one iteration space; what it gives to others spans the space, or the space with the reduced
/// axes 1. Single elementwise operators become programs of one. Known to users as AutomaticUbFusion.
Pass vector_fusion_pass();  ///< "vector-fusion"; changes: groups made

}  // namespace atc::passes
