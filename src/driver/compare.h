#pragma once

#include <string>

#include "atc/base/tensor.h"

namespace atc::driver {

/// How close an output must be to what is expected.
struct CompareRule {
  enum class Kind {
    Elementwise,  ///< |actual - expected| <= atol + rtol * |expected|; integers, booleans, strings exact
    Cosine,  ///< floating: cosine of the whole output >= min_cosine, an all-zero expectation within atol;
             ///< integers and booleans: at most max_mismatch of the elements differ
  };
  Kind kind = Kind::Elementwise;
  double rtol = 1e-3;
  double atol = 1e-4;
  double min_cosine = 0.999;
  double max_mismatch = 0.01;
  bool any_float_dtype = false;  ///< an output may be another floating type than expected
};

/// The outcome for one output. The errors are the worst over its finite elements, whatever the rule;
/// an infinite error is a NaN or Inf out of place.
struct Comparison {
  bool pass = false;
  std::string reason;  ///< why not; "" when it passed
  double max_abs = 0;
  double max_rel = 0;  ///< |d| / |expected| over elements whose expectation is not 0
  double cosine = 1;   ///< floating outputs only
};

/// Compares dtype, shape and values. NaN must meet NaN, and Inf an Inf of the same sign, in place, under
/// either rule.
Comparison compare(const Tensor& expected, const Tensor& actual, const CompareRule& rule);

}  // namespace atc::driver
