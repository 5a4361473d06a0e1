#pragma once

// half, bfloat16_t and int4b_t. A value is rounded to nearest even when it becomes one of them; an operation
// on two of them gives one of them, so every operation rounds, as the scalar unit's do. With an integer the
// result keeps the 16-bit type, with float or double it takes theirs.
#include <cstdint>
#include <type_traits>

namespace AscendC {
namespace detail {

constexpr std::uint16_t half_bits(float v) {
  const std::uint32_t f = __builtin_bit_cast(std::uint32_t, v);
  const auto sign = static_cast<std::uint16_t>(f >> 16 & 0x8000U);
  const std::uint32_t a = f & 0x7fffffffU;
  if (a > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (a >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // 65536 and more
  if (a < 0x38800000U) {                                                    // subnormal: units of 2^-24
    if (a < 0x33000000U) return sign;
    const std::uint32_t shift = 126 - (a >> 23);
    const std::uint32_t m = (a & 0x7fffffU) | 0x800000U;
    const std::uint32_t q = m >> shift, rest = m & ((1U << shift) - 1), tie = 1U << (shift - 1);
    return static_cast<std::uint16_t>(sign | (q + ((rest > tie || (rest == tie && (q & 1))) ? 1 : 0)));
  }
  const std::uint32_t rounded = a + 0xfffU + (a >> 13 & 1);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
}

constexpr float half_value(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16;
  const std::uint32_t e = h >> 10 & 31U, m = h & 0x3ffU;
  if (e == 0) {
    const float v = static_cast<float>(m) * 0x1p-24f;
    return sign != 0 ? -v : v;
  }
  return __builtin_bit_cast(float, sign | (e == 31 ? 0x7f800000U : (e + 112) << 23) | m << 13);
}

constexpr std::uint16_t bfloat16_bits(float v) {
  const std::uint32_t f = __builtin_bit_cast(std::uint32_t, v);
  if ((f & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(f >> 16 | 0x40U);
  return static_cast<std::uint16_t>((f + 0x7fffU + (f >> 16 & 1)) >> 16);
}

constexpr float bfloat16_value(std::uint16_t b) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(b) << 16);
}

// The type of an operation between a 16-bit float and an arithmetic type.
template <class Narrow, class T>
using mixed_t = std::conditional_t<std::is_integral_v<T>, Narrow, T>;
template <class T>
using if_arithmetic = std::enable_if_t<std::is_arithmetic_v<T>, int>;

}  // namespace detail
}  // namespace AscendC

#define ATC_NARROW_FLOAT_OPERATOR(Type, op)                                     \
  friend constexpr Type operator op(Type a, Type b) {                           \
    return Type(static_cast<float>(a) op static_cast<float>(b));                \
  }                                                                             \
  template <class T, AscendC::detail::if_arithmetic<T> = 0>                     \
  friend constexpr AscendC::detail::mixed_t<Type, T> operator op(Type a, T b) { \
    using R = AscendC::detail::mixed_t<Type, T>;                                \
    if constexpr (std::is_same_v<R, Type>)                                      \
      return a op Type(b);                                                      \
    else                                                                        \
      return static_cast<R>(static_cast<float>(a)) op b;                        \
  }                                                                             \
  template <class T, AscendC::detail::if_arithmetic<T> = 0>                     \
  friend constexpr AscendC::detail::mixed_t<Type, T> operator op(T a, Type b) { \
    using R = AscendC::detail::mixed_t<Type, T>;                                \
    if constexpr (std::is_same_v<R, Type>)                                      \
      return Type(a) op b;                                                      \
    else                                                                        \
      return a op static_cast<R>(static_cast<float>(b));                        \
  }                                                                             \
  template <class T>                                                            \
  constexpr Type& operator op##=(T b) {                                         \
    return *this = static_cast<Type>(*this op b);                               \
  }

#define ATC_NARROW_FLOAT(Type, to_bits, to_value)                                                       \
  class Type {                                                                                          \
   public:                                                                                              \
    Type() = default;                                                                                   \
    constexpr Type(float v) : bits_(AscendC::detail::to_bits(v)) {}                                     \
    template <class T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, float>, int> = 0> \
    constexpr Type(T v) : bits_(AscendC::detail::to_bits(static_cast<float>(v))) {}                     \
    constexpr operator float() const { return AscendC::detail::to_value(bits_); }                       \
    constexpr Type operator-() const { return from_bits(static_cast<std::uint16_t>(bits_ ^ 0x8000U)); } \
    constexpr Type operator+() const { return *this; }                                                  \
    static constexpr Type from_bits(std::uint16_t bits) {                                               \
      Type t(0.0f);                                                                                     \
      t.bits_ = bits;                                                                                   \
      return t;                                                                                         \
    }                                                                                                   \
    constexpr std::uint16_t bits() const { return bits_; }                                              \
    ATC_NARROW_FLOAT_OPERATOR(Type, +)                                                                  \
    ATC_NARROW_FLOAT_OPERATOR(Type, -)                                                                  \
    ATC_NARROW_FLOAT_OPERATOR(Type, *)                                                                  \
    ATC_NARROW_FLOAT_OPERATOR(Type, /)                                                                  \
   private:                                                                                             \
    std::uint16_t bits_;                                                                                \
  };

ATC_NARROW_FLOAT(half, half_bits, half_value)
ATC_NARROW_FLOAT(bfloat16_t, bfloat16_bits, bfloat16_value)

#undef ATC_NARROW_FLOAT
#undef ATC_NARROW_FLOAT_OPERATOR

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2);

using float16_t = half;
using float32_t = float;

namespace AscendC {

/// A signed 4-bit integer; two share a byte in a tensor, so it has no value of its own.
struct int4b_t {
  std::uint8_t storage;
};

constexpr float ToFloat(bfloat16_t v) { return static_cast<float>(v); }
constexpr bfloat16_t ToBfloat16(float v) { return bfloat16_t(v); }

}  // namespace AscendC
using AscendC::int4b_t;
