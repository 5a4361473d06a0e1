#pragma once

#include <memory>
#include <random>

#include "atc/ir/graph.h"

namespace atc::ir {

/// A tensor of random bits (nan payloads included); packed dtypes have zero padding bits.
Tensor random_tensor(std::mt19937& rng, DType dtype, Dims dims);

/// A graph that passes the verifier and uses every feature of the IR: absent inputs and outputs, odd
/// names, all attribute kinds, nested graphs that read and return outer values, packed constants.
std::unique_ptr<Graph> random_graph(std::mt19937& rng, int nodes, int depth = 2);

}  // namespace atc::ir
