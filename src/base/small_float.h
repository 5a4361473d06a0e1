#pragma once

#include <cstdint>

#include "atc/base/dtype.h"

namespace atc {

/// What becomes of a value beyond the largest finite one (ONNX Cast, attribute `saturate`).
enum class Overflow : std::uint8_t {
  Saturate,  ///< the largest finite value; infinities of the FNUZ types become NaN all the same
  Special,   ///< infinity where the type has one, else NaN
};

/// ONNX Cast, attribute `round_mode`; FLOAT8E8M0 only. Up and Down are away from and toward zero.
enum class E8M0Round : std::uint8_t { Up, Down, Nearest };

/// The 8- or 4-bit code of `v` in F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ or F4E2M1, rounded once, to
/// nearest even. F4E2M1 has neither infinity nor NaN: it always saturates, NaN becomes -0.
std::uint8_t encode_small_float(DType type, double v, Overflow overflow = Overflow::Saturate);
/// F8E8M0 is 2^(code - 127), 255 is NaN: negative values become NaN, zero and what is below the range the
/// smallest power; ties of Nearest go up.
std::uint8_t encode_e8m0(double v, E8M0Round round = E8M0Round::Nearest,
                         Overflow overflow = Overflow::Saturate);
/// The value of a code of any of these types, exact.
double decode_small_float(DType type, std::uint8_t code);

}  // namespace atc
