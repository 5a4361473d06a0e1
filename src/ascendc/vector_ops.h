#pragma once

#include <cstdint>

#include "ascendc/core_block.h"

namespace atc::ascendc {

/// One stretch of lanes: `n` elements, dense.
struct LaneData {
  std::byte* dst = nullptr;
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::int64_t n = 0;
};

/// Computes dst = op(a, b) over a stretch. False when the op does not exist for the types.
bool compute(const AtcVector& v, const LaneData& d);
/// Conversion between element types by a rounding mode (convert.cc).
bool convert_elements(std::uint8_t to, std::uint8_t from, int mode, float deq_scale, const LaneData& d);

const char* name_of(std::uint32_t op);
/// Passes over the data that the operation takes.
int passes_of(std::uint32_t op);
/// Reads dst too.
bool accumulates(std::uint32_t op);

}  // namespace atc::ascendc
