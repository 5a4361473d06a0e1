#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A Cast behind one that loses nothing reads what that one reads:
///
///     y = Cast(Cast(x: f16, f32), i32)  ->  y = Cast(x, i32)
///     y = Cast(Cast(x: i32, i64), i32)  ->  x
///
/// Fires only where the type between holds every value of x's type: a wider float, a wider integer, an
/// integer in a float of enough digits, bool in any number. fp32 -> fp16 -> fp32 rounds and stays.
Pass cast_algebra_pass();  ///< "cast-algebra"; changes: Casts that read further up, or went

}  // namespace atc::passes
