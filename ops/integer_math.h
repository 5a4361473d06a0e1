#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ops/reference_util.h"

// Arithmetic on widened elements (double, int64, uint64) that is defined for every operand: integers
// wrap, and the cases that C++ leaves open have the values given here.
namespace atc::ops {

template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

template <class T>
T wrapping_sub(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

template <class T>
T wrapping_mul(T a, T b) {
  if constexpr (std::floating_point<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Integers truncate toward zero; an integer divided by zero is 0, INT64_MIN / -1 wraps.
template <class T>
T truncating_div(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return wrapping_sub(T{0}, a);
    return a / b;
  }
}

/// Remainder with the sign of the dividend; an integer modulo zero is 0.
template <class T>
T truncating_mod(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return a % b;
  }
}

/// Remainder with the sign of the divisor; an integer modulo zero is 0.
template <class T>
T floor_mod(T a, T b) {
  const T m = truncating_mod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? wrapping_add(m, b) : m;
}

/// base^exponent with wrapping; a negative exponent gives the truncated reciprocal (0 for base 0).
template <std::integral B, std::integral E>
B integer_pow(B base, E exponent) {
  if constexpr (std::is_signed_v<E>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if constexpr (std::is_signed_v<B>)
        if (base == -1) return exponent % 2 == 0 ? 1 : -1;
      return 0;
    }
  }
  B result = 1;
  for (auto e = static_cast<std::uint64_t>(exponent); e != 0; e >>= 1U) {
    if ((e & 1U) != 0) result = wrapping_mul(result, base);
    base = wrapping_mul(base, base);
  }
  return result;
}

/// Shifts of unsigned elements; by the width or more gives 0.
template <class T>
std::uint64_t shift_left(T a, T by) {
  const auto count = static_cast<std::uint64_t>(by);
  return count >= 64 ? 0 : static_cast<std::uint64_t>(a) << count;
}
template <class T>
std::uint64_t shift_right(T a, T by) {
  const auto count = static_cast<std::uint64_t>(by);
  return count >= 64 ? 0 : static_cast<std::uint64_t>(a) >> count;
}

/// A double as an element of T: floats round, Bool8 is v != 0, integers truncate toward zero and wrap at
/// their width; NaN and what no 64-bit integer holds become the lowest int64, wrapped.
template <class T>
T double_to(double v) {
  if constexpr (kIsFloating<T>) {
    return narrow<T>(v);
  } else if constexpr (std::is_same_v<T, Bool8>) {
    return Bool8(v != 0);
  } else {
    constexpr double kTwo63 = 9223372036854775808.0;
    if (v >= -kTwo63 && v < kTwo63) return static_cast<T>(static_cast<std::int64_t>(v));
    if (v >= kTwo63 && v < 2 * kTwo63) return static_cast<T>(static_cast<std::uint64_t>(v));
    return static_cast<T>(std::numeric_limits<std::int64_t>::min());
  }
}

}  // namespace atc::ops
