#include "base/small_float.h"

#include <cmath>
#include <limits>

#include "atc/base/check.h"

namespace atc {
namespace {

/// Sign, exponent and mantissa fields; the codes are those of the ONNX pages on float8 and float4.
struct Format {
  int mantissa_bits;
  int bias;
  int sign_bit;
  std::uint8_t largest;    ///< code of the largest finite value
  int infinity;            ///< code, or -1
  int nan;                 ///< code, or -1
  bool unsigned_zero_nan;  ///< FNUZ: no -0, its code is the NaN
};

constexpr Format kE4M3FN{3, 7, 7, 0x7E, -1, 0x7F, false};
constexpr Format kE4M3FNUZ{3, 8, 7, 0x7F, -1, 0x80, true};
constexpr Format kE5M2{2, 15, 7, 0x7B, 0x7C, 0x7F, false};
constexpr Format kE5M2FNUZ{2, 16, 7, 0x7F, -1, 0x80, true};
constexpr Format kE2M1{1, 1, 3, 0x7, -1, -1, false};

const Format& format_of(DType type) {
  switch (type) {
    case DType::F8E4M3FN:
      return kE4M3FN;
    case DType::F8E4M3FNUZ:
      return kE4M3FNUZ;
    case DType::F8E5M2:
      return kE5M2;
    case DType::F8E5M2FNUZ:
      return kE5M2FNUZ;
    case DType::F4E2M1:
      return kE2M1;
    default:
      internal_error(__FILE__, __LINE__, "not a small float: " + std::string(name(type)));
  }
}

double decode_e8m0(std::uint8_t code) {
  return code == 0xFF ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}

}  // namespace

std::uint8_t encode_small_float(DType type, double v, Overflow overflow) {
  const Format& f = format_of(type);
  const auto sign = static_cast<std::uint8_t>(std::signbit(v) ? 1U << f.sign_bit : 0U);
  const auto special = [&](int code) {
    return static_cast<std::uint8_t>(f.unsigned_zero_nan ? f.nan : code | sign);
  };
  if (std::isnan(v)) return f.nan < 0 ? static_cast<std::uint8_t>(1U << f.sign_bit) : special(f.nan);
  const bool saturates = overflow == Overflow::Saturate || f.nan < 0;
  const auto too_large = [&]() -> std::uint8_t {
    if (!saturates) return special(f.infinity >= 0 ? f.infinity : f.nan);
    return static_cast<std::uint8_t>(f.largest | sign);
  };
  const double mag = std::fabs(v);
  if (std::isinf(v)) return f.unsigned_zero_nan ? static_cast<std::uint8_t>(f.nan) : too_large();
  if (mag > 1e6) return too_large();
  // In units of the last place; below 2^lowest the steps stay those of the smallest normal numbers.
  const int lowest = 1 - f.bias;
  const int exponent = mag == 0 ? lowest : std::max(std::ilogb(mag), lowest);
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(mag, f.mantissa_bits - exponent)));
  // A carry out of the mantissa runs into the exponent field, as it should.
  const int code = ((exponent - lowest) << f.mantissa_bits) + units;
  if (code > f.largest) return too_large();
  if (code == 0 && f.unsigned_zero_nan) return 0;
  return static_cast<std::uint8_t>(code | sign);
}

std::uint8_t encode_e8m0(double v, E8M0Round round, Overflow overflow) {
  constexpr std::uint8_t kNan = 0xFF;
  constexpr std::uint8_t kLargest = 0xFE;
  if (std::isnan(v) || v < 0) return kNan;
  if (std::isinf(v)) return overflow == Overflow::Saturate ? kLargest : kNan;
  if (v < 0x1p-127) return 0;
  int exponent = std::ilogb(v);
  const double over = std::ldexp(v, -exponent);  // [1, 2)
  if ((round == E8M0Round::Up && over > 1.0) || (round == E8M0Round::Nearest && over >= 1.5)) ++exponent;
  if (exponent > 127) return overflow == Overflow::Saturate ? kLargest : kNan;
  return static_cast<std::uint8_t>(exponent + 127);
}

double decode_small_float(DType type, std::uint8_t code) {
  if (type == DType::F8E8M0) return decode_e8m0(code);
  const Format& f = format_of(type);
  const int sign_mask = 1 << f.sign_bit;
  const int mag = code & (sign_mask - 1);
  const double sign = (code & sign_mask) != 0 ? -1.0 : 1.0;
  if (f.unsigned_zero_nan ? code == f.nan : f.nan >= 0 && mag > std::max<int>(f.largest, f.infinity))
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (mag == f.infinity) return sign * std::numeric_limits<double>::infinity();
  const int field = mag >> f.mantissa_bits;
  const int fraction = mag & ((1 << f.mantissa_bits) - 1);
  const int units = field == 0 ? fraction : fraction | (1 << f.mantissa_bits);
  return sign * std::ldexp(units, std::max(field, 1) - f.bias - f.mantissa_bits);
}

}  // namespace atc
