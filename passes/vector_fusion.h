#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// What a vector program may hold: its registers have to fit the Unified Buffer in tiles of a useful size.
inline constexpr std::size_t kMaxProgramNodes = 48;
inline constexpr std::size_t kMaxProgramOperands = 12;

/// Groups elementwise operators and reductions along one group of axes into vector programs:
///
///     a = Mul(x, s); b = Add(a, t); y = Tanh(b)   ->   y = atc.Fused(x, s, t){body = Mul, Add, Tanh}
///     m = ReduceMean(x); d = Sub(x, m); ...       ->   one atc.Fused for the whole normalisation
///
/// A group has one iteration space; what it gives to others spans the space, or the space with the reduced
/// axes 1. Single elementwise operators become programs of one. Known to users as AutomaticUbFusion.
Pass vector_fusion_pass();  ///< "vector-fusion"; changes: groups made

/// Programs of one operator each, of whatever is no program yet: with vector fusion switched off, elementwise
/// operators and reductions are still the AI Core's.
Pass vector_form_pass();  ///< "vector-form"; changes: programs made

}  // namespace atc::passes
