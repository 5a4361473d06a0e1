#pragma once

#include <string>

#include "atc/base/tensor.h"

namespace atc::conformance {

/// "" when `actual` is `expected`: equal dtype and shape, integers, booleans and strings exactly, floats
/// within 1e-6 + 1e-3 |expected| (8-bit mantissas: one unit in the last place), NaN where NaN is expected.
std::string difference(const Tensor& actual, const Tensor& expected);

}  // namespace atc::conformance
