#pragma once

#include <cstddef>

#include "kernels/task.h"

namespace atc::kernels {

/// Whether operand `output` of the task may lie exactly where operand `input` does, which nobody reads
/// afterwards: every position of `output` has the address of the position of `input` with which it is
/// computed, no two positions share an address (so it does not matter which core takes which tile, and when),
/// and within a tile `input` is read no later than `output` is written, in Fast mode's aliases too. Other
/// operands in the same memory need the same answer. False for templates that say nothing about it.
/// Precondition: both are operands of the task.
bool may_share(const Task& task, std::size_t input, std::size_t output);

}  // namespace atc::kernels
