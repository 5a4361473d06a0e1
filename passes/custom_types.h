#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Each atc::Custom gets the element types of one combination that its library supports:
///
///     y = atc.Custom(x: f32)    ->    y = Cast(atc.Custom(Cast(x, f16)), f32)
///
/// where the library has no fp32, or where the precision mode narrows (fp16) and it has both.
Pass custom_types_pass();  ///< "custom-types"; changes: casts

}  // namespace atc::passes
