#include "ops/pad_geometry.h"

#include <algorithm>

#include "atc/base/math.h"

namespace atc::ops {

std::string pad_fault(PadMode mode, std::int64_t length, std::int64_t before, std::int64_t after) {
  const auto some = checked_add(length, before);
  const auto padded = some ? checked_add(*some, after) : std::nullopt;
  const std::string what = "pads " + std::to_string(before) + " and " + std::to_string(after) +
                           " of length " + std::to_string(length);
  if (!padded) return what + " do not fit 64 bits";
  if (*padded < 0) return what + " remove more than there is";
  if (mode != PadMode::Constant && length == 0 && *padded > 0) return what + " have no element to repeat";
  return {};
}

std::int64_t pad_source(PadMode mode, std::int64_t length, std::int64_t k) {
  if (k >= 0 && k < length) return k;
  auto modulo = [](std::int64_t v, std::int64_t n) { return (v % n + n) % n; };
  switch (mode) {
    case PadMode::Constant:
      return -1;
    case PadMode::Edge:
      return std::clamp<std::int64_t>(k, 0, length - 1);
    case PadMode::Wrap:
      return modulo(k, length);
    case PadMode::Reflect: {
      if (length == 1) return 0;
      // A triangle wave of period 2 (length - 1); pads longer than the axis go on reflecting.
      const std::int64_t phase = modulo(k, 2 * (length - 1));
      return phase < length ? phase : 2 * (length - 1) - phase;
    }
  }
  return -1;
}

}  // namespace atc::ops
