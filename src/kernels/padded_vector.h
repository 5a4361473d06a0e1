#pragma once

#include "kernels/vector_program.h"

namespace atc::kernels {

/// make_vector_task for operands that have fewer elements along the space's last axis than the space: only
/// the first present[k] of operand k exist (0: all). Others are not stored, and hold anything when loaded.
/// That axis is neither reduced nor 1 long.
StatusOr<Task> make_padded_vector_task(const VectorProgram& program, const VectorSpace& space,
                                       const std::vector<std::int64_t>& present,
                                       std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
