#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

#include "ops/op.h"

// Random numbers that are the same on every machine and in every run. The standard leaves the sequence of a
// seed open; this is the one of its own reference evaluation (NumPy's RandomState): MT19937, doubles of
// 53 bits, normal numbers by the polar method.
namespace atc::ops {

class RandomStream {
 public:
  explicit RandomStream(std::uint32_t seed) : generator_(seed) {}
  double uniform();  ///< in [0, 1)
  double normal();   ///< mean 0, standard deviation 1

 private:
  std::mt19937 generator_;
  std::optional<double> spare_;  // normal numbers come in pairs
};

/// True of RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial, and of Dropout with an
/// input training_mode.
bool draws_random_numbers(const ir::Node& node);

/// The seed of a node: its attribute `seed` (Int, or Float as the random operators have it); without one a
/// number of 24 bits (which a Float holds) made of the name of its first output, so that nodes differ and
/// runs do not.
std::uint32_t seed_of(const ir::Node& node);

}  // namespace atc::ops
