#pragma once

#include "atc/ir/graph.h"

namespace atc::passes {

/// True when the value holds no infinity and no NaN, whatever the model is given: constants, integers and
/// truth values, and what operators that move or bound elements make of such values alone. Nothing that
/// follows from a floating input is: a bound keeps infinities out, but no NaN. Looks through a limited number
/// of nodes.
bool is_known_finite(const ir::Value& value);

}  // namespace atc::passes
