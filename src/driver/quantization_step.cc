#include "driver/quantization_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace atc::driver {
namespace {

constexpr std::array<std::string_view, 12> kMovers = {"DepthToSpace", "Expand",  "Flatten",   "Gather",
                                                      "Identity",     "Reshape", "Slice",     "SpaceToDepth",
                                                      "Squeeze",      "Tile",    "Transpose", "Unsqueeze"};

std::optional<double> scale_behind(const ir::Value* v) {
  for (; v != nullptr && v->producer() != nullptr; v = v->producer()->input(0)) {
    const ir::Node& n = *v->producer();
    if (n.is("DequantizeLinear")) {
      const ir::Value* scale = n.input(1);
      if (scale == nullptr || !scale->is_constant()) return std::nullopt;
      const std::vector<double> scales = to_doubles(scale->constant());
      const auto largest = std::max_element(scales.begin(), scales.end());
      if (largest == scales.end() || !(*largest > 0)) return std::nullopt;
      return *largest;
    }
    if (!n.domain.empty() || std::find(kMovers.begin(), kMovers.end(), n.op_type) == kMovers.end())
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

double quantization_step(const ir::Value* output, const Tensor& expected) {
  if (!is_float(expected.dtype)) return 1;
  if (const auto scale = scale_behind(output)) return *scale;
  double low = 0, high = 0;
  for (const double v : to_doubles(expected)) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return std::max((high - low) / 255, std::numeric_limits<double>::min());
}

}  // namespace atc::driver
