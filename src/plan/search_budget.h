#pragma once

#include <cstdint>

namespace atc::plan {

/// What a search may spend, counted in steps of its own so that the answer does not depend on the machine.
struct SearchBudget {
  std::int64_t steps = 0;
  bool spent() const { return steps <= 0; }
};

enum class SearchEnd { Found, Impossible, GaveUp };

}  // namespace atc::plan
