#pragma once

#include <span>

#include "kernels/task.h"

namespace atc::kernels {

/// True when every element offset + sum i_d * strides[d], 0 <= i_d < dims[d], lies in the operand, counted in
/// elements of `element_bytes`. Overflow counts as outside. Dims are positive.
bool within(const Operand& operand, std::int64_t element_bytes, std::int64_t offset,
            std::span<const std::int64_t> dims, std::span<const std::int64_t> strides);

}  // namespace atc::kernels
