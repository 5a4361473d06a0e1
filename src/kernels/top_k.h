#pragma once

#include "kernels/task.h"

namespace atc::kernels {

/// The best `keep` of the `axis` elements of each row, in order, and their indices. Among equal elements the
/// lower index comes first; NaN counts as the largest value. With `parts` > 1 the axis is cut into as many
/// stretches and each row has keep results for each of them, in order of the stretches.
struct TopKSpec {
  bool largest = true;
  bool named = false;  ///< operand 1 names the elements, else their positions on the axis do
  std::int64_t rows = 1, axis = 1, keep = 1, parts = 1;
};

/// Builds the task. Operands: 0 values ([rows][axis]), 1 names (I32, like 0; left out unless `named`), then
/// values out ([rows][parts][keep]) and indices out (I32 or I64, likewise). Preconditions: axis / parts >=
/// keep >= 1 and keep <= kMaxTopK. E10041 when an operand is too small or of a wrong kind.
StatusOr<Task> make_top_k(const TopKSpec& spec, std::vector<Operand> operands, const soc::Chip& chip);

/// What is kept stands in UB in whole, on every chip.
inline constexpr std::int64_t kMaxTopK = 4096;

/// Stretches that a second task then joins: 1 when rows keep all cores busy or the axis is short.
std::int64_t top_k_parts(std::int64_t rows, std::int64_t axis, std::int64_t keep, const soc::Chip& chip);

}  // namespace atc::kernels
