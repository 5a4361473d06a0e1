#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Before: RandomNormal, Bernoulli, ... without a seed, or Dropout that may train.
/// After:  the same with a seed made of the name of its output, so that it keeps its numbers when it moves
/// into
///         a task or a region of its own.
Pass random_seeds_pass();  ///< "random-seeds"; changes: seeds set

}  // namespace atc::passes
