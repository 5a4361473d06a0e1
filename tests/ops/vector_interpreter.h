#pragma once

#include <vector>

#include "kernels/vector_program.h"

namespace atc::ops {

/// Runs a vector program on one position: register values in double (exact for the small integers of
/// tests), `inputs` are what the first registers hold. Independent of the AI Core's own arithmetic.
std::vector<double> interpret(const kernels::VectorProgram& program, const std::vector<double>& inputs);

}  // namespace atc::ops
