#pragma once

#include <cstdint>

#include "atc/base/tensor.h"
#include "runtime/tensor_io.h"

namespace atc::runtime {

/// A tensor for an input that the user gave no file for. Floats are uniform in [-1, 1), integers 0 to 9
/// (2- and 4-bit ones what they can hold of that), so that ids and indices stay in range of most tables;
/// booleans are fair coins, strings empty. The values depend on the seed, the input's number, its dtype
/// and its element count only.
Tensor random_tensor(const TensorSpec& spec, std::uint64_t seed, std::uint64_t input_number);

}  // namespace atc::runtime
