#include "conformance/compare.h"

#include <cmath>
#include <sstream>

namespace atc::conformance {
namespace {

/// Relative distance of neighbours where that is more than the tolerance of wide floats.
double relative_tolerance(DType dtype) {
  switch (dtype) {
    case DType::BF16:
      return 1.0 / 128;
    case DType::F16:
      return 1.0 / 512;
    default:
      return 1e-3;
  }
}

bool close(double a, double b, double relative) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= 1e-6 + relative * std::fabs(b);
}

std::string at(std::size_t i, const auto& actual, const auto& expected) {
  std::ostringstream text;
  text << "element " << i << " is " << actual << ", expected " << expected;
  return text.str();
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected) {
  if (actual.dtype != expected.dtype)
    return "dtype is " + std::string(name(actual.dtype)) + ", expected " + std::string(name(expected.dtype));
  if (actual.shape != expected.shape)
    return "shape is [" + to_string(actual.shape) + "], expected [" + to_string(expected.shape) + "]";
  if (expected.dtype == DType::String) {
    for (std::size_t i = 0; i < expected.strings.size(); ++i)
      if (actual.strings[i] != expected.strings[i]) return at(i, actual.strings[i], expected.strings[i]);
    return {};
  }
  if (is_float(expected.dtype)) {
    const std::vector<double> a = to_doubles(actual);
    const std::vector<double> e = to_doubles(expected);
    for (std::size_t i = 0; i < e.size(); ++i)
      if (!close(a[i], e[i], relative_tolerance(expected.dtype))) return at(i, a[i], e[i]);
    return {};
  }
  const std::vector<std::int64_t> a = to_int64s(actual);
  const std::vector<std::int64_t> e = to_int64s(expected);
  for (std::size_t i = 0; i < e.size(); ++i)
    if (a[i] != e[i]) return at(i, a[i], e[i]);
  return {};
}

}  // namespace atc::conformance
