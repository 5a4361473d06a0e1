#include "driver/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace atc::driver {
namespace {

std::string number(double v) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", v);
  return buffer;
}

std::string type_text(const Tensor& t) {
  return std::string(onnx_name(t.dtype)) + "[" + to_string(t.shape) + "]";
}

/// "[1,0,3]": the index of element `flat`.
std::string position(const Dims& shape, std::size_t flat) {
  Dims index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    index[axis] = static_cast<std::int64_t>(flat % extent);
    flat /= extent;
  }
  return "[" + to_string(index) + "]";
}

bool is_complex(DType t) { return t == DType::C64 || t == DType::C128; }

/// Real and imaginary parts side by side, with one more axis.
Tensor real_view(const Tensor& t) {
  if (!is_complex(t.dtype)) return t;
  Tensor out = t;
  out.dtype = t.dtype == DType::C64 ? DType::F32 : DType::F64;
  out.shape.push_back(2);
  return out;
}

Comparison failed(std::string reason) {
  Comparison result;
  result.reason = std::move(reason);
  result.max_abs = result.max_rel = std::numeric_limits<double>::infinity();
  return result;
}

/// Keeps the first fault: the one a user looks at.
void fail(Comparison& result, std::string reason) {
  if (result.reason.empty()) result.reason = std::move(reason);
}

void note_error(Comparison& result, double difference, double expected) {
  result.max_abs = std::max(result.max_abs, difference);
  if (expected != 0) result.max_rel = std::max(result.max_rel, difference / std::abs(expected));
}

/// Cosine of two vectors without overflow; 1 when both are zero, 0 when one is.
double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double top_a = 0, top_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    top_a = std::max(top_a, std::abs(a[i]));
    top_b = std::max(top_b, std::abs(b[i]));
  }
  if (top_a == 0 || top_b == 0) return top_a == top_b ? 1 : 0;
  double dot = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    const double x = a[i] / top_a, y = b[i] / top_b;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return dot / std::sqrt(aa * bb);
}

/// Counts the elements that are further off than the rule's steps; more than its share of them is a fault.
class StepCounter {
 public:
  StepCounter(const CompareRule& rule, const Dims& shape) : rule_(rule), shape_(shape) {}
  void add(std::size_t position, double got, double want) {
    ++elements_;
    if (std::abs(got - want) <= rule_.steps * rule_.step) return;
    if (beyond_++ == 0) first_ = {position, got, want};
  }
  void judge(Comparison& result) const {
    if (beyond_ == 0) return;
    result.beyond = static_cast<double>(beyond_) / static_cast<double>(elements_);
    if (result.beyond <= rule_.max_beyond) return;
    fail(result, "element " + position(shape_, first_.position) + " is " + number(first_.got) +
                     ", expected " + number(first_.want) + " within " + number(rule_.steps) +
                     " quantization steps of " + number(rule_.step) + " (" + std::to_string(beyond_) +
                     " of " + std::to_string(elements_) + " elements are not)");
  }

 private:
  struct Element {
    std::size_t position = 0;
    double got = 0, want = 0;
  };
  const CompareRule& rule_;
  const Dims& shape_;
  std::size_t elements_ = 0, beyond_ = 0;
  Element first_;
};

/// Both NaN, or the same infinity.
bool same_special(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

Comparison compare_floats(const Tensor& expected, const Tensor& actual, const CompareRule& rule) {
  const std::vector<double> want = to_doubles(expected), got = to_doubles(actual);
  const bool by_element = rule.kind == CompareRule::Kind::Elementwise;
  const bool by_cosine = rule.kind == CompareRule::Kind::Cosine;
  const bool all_zero = std::all_of(want.begin(), want.end(), [](double v) { return v == 0; });
  Comparison result;
  StepCounter steps(rule, expected.shape);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(want[i]) || !std::isfinite(got[i])) {
      if (same_special(want[i], got[i])) continue;
      result.max_abs = result.max_rel = std::numeric_limits<double>::infinity();
      fail(result, "element " + position(expected.shape, i) + " is " + number(got[i]) + ", expected " +
                       number(want[i]));
      continue;
    }
    const double difference = std::abs(got[i] - want[i]);
    note_error(result, difference, want[i]);
    if (rule.kind == CompareRule::Kind::Steps) {
      steps.add(i, got[i], want[i]);
      continue;
    }
    const double allowed = by_element ? rule.atol + rule.rtol * std::abs(want[i]) : rule.atol;
    if ((by_element || all_zero) && !(difference <= allowed))
      fail(result, "element " + position(expected.shape, i) + " is " + number(got[i]) + ", expected " +
                       number(want[i]) + " within " + number(allowed));
  }
  result.cosine = cosine(want, got);
  steps.judge(result);
  if (by_cosine && !all_zero && !(result.cosine >= rule.min_cosine)) {
    char text[32];
    std::snprintf(text, sizeof text, "%.7f", result.cosine);
    fail(result, std::string("cosine is ") + text + ", expected at least " + number(rule.min_cosine));
  }
  result.pass = result.reason.empty();
  return result;
}

Comparison compare_integers(const Tensor& expected, const Tensor& actual, const CompareRule& rule) {
  const std::vector<std::int64_t> want = to_int64s(expected), got = to_int64s(actual);
  const bool by_steps =
      rule.kind == CompareRule::Kind::Steps && (expected.dtype == DType::I8 || expected.dtype == DType::U8);
  Comparison result;
  StepCounter steps(rule, expected.shape);
  std::size_t mismatches = 0, first = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    steps.add(i, static_cast<double>(got[i]), static_cast<double>(want[i]));
    if (want[i] == got[i]) continue;
    if (mismatches++ == 0) first = i;
    note_error(result, std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])),
               static_cast<double>(want[i]));
  }
  const double share = want.empty() ? 0 : static_cast<double>(mismatches) / static_cast<double>(want.size());
  const double allowed = rule.kind == CompareRule::Kind::Cosine ? rule.max_mismatch : 0;
  if (by_steps)
    steps.judge(result);
  else if (share > allowed)
    fail(result, "element " + position(expected.shape, first) + " is " + std::to_string(got[first]) +
                     ", expected " + std::to_string(want[first]) + " (" + std::to_string(mismatches) +
                     " of " + std::to_string(want.size()) + " differ)");
  result.pass = result.reason.empty();
  return result;
}

}  // namespace

Comparison compare(const Tensor& expected, const Tensor& actual, const CompareRule& rule) {
  const bool dtype_fits = expected.dtype == actual.dtype ||
                          (rule.any_float_dtype && is_float(expected.dtype) && is_float(actual.dtype));
  if (!dtype_fits || expected.shape != actual.shape)
    return failed("output is " + type_text(actual) + ", expected " + type_text(expected));
  if (expected.dtype == DType::String) {
    for (std::size_t i = 0; i < expected.strings.size(); ++i)
      if (expected.strings[i] != actual.strings[i])
        return failed("element " + position(expected.shape, i) + " is '" + actual.strings[i] +
                      "', expected '" + expected.strings[i] + "'");
    Comparison same;
    same.pass = true;
    return same;
  }
  if (is_float(expected.dtype) || is_complex(expected.dtype))
    return compare_floats(real_view(expected), real_view(actual), rule);
  return compare_integers(expected, actual, rule);
}

}  // namespace atc::driver
