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
    Steps,   ///< floating and 8-bit: |actual - expected| <= steps * step, but for max_beyond of the elements;
             ///< wider integers, booleans and strings exact
  };
  Kind kind = Kind::Elementwise;
  double rtol = 1e-3;
  double atol = 1e-4;
  double min_cosine = 0.999;
  double max_mismatch = 0.01;
  double steps = 1;              ///< quantization steps
  double step = 1;               ///< what one is in this output, see quantization_step()
  double max_beyond = 1e-3;      ///< share of the elements
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
  double beyond = 0;   ///< Steps only: the share of the elements that are further off
};

/// Compares dtype, shape and values. NaN must meet NaN, and Inf an Inf of the same sign, in place, under
/// either rule.
Comparison compare(const Tensor& expected, const Tensor& actual, const CompareRule& rule);

}  // namespace atc::driver
