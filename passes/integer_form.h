#pragma once

#include <span>

#include "passes/pass.h"

namespace atc::passes {

/// ConvInteger and MatMulInteger with known weights take the form of the cube's int8 product:
///
///     y = ConvInteger(x, w, x_zero, w_zero)
///  -> y = atc::Conv(x, w - w_zero) {pad_value=x_zero, epilogue: acc - x_zero * sum(w - w_zero)}
///
/// A constant Add for each channel behind it joins the epilogue's. u8 data becomes i8 by a vector program.
/// MatMul may have an x_zero that only the run knows, and i8 weights without zero point that are not
/// constant.
///
/// Stays (the AI CPU runs it): weights that do not fit int8 when their zero point is taken off, zero points
/// by row, convolutions with padding whose x_zero is not constant.
Pass integer_form_pass();  ///< "integer-form"; changes: operators rewritten

/// The ONNX operators that it rewrites.
std::span<const std::string_view> integer_form_operators();

}  // namespace atc::passes
