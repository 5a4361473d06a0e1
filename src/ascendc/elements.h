#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "atc/base/half.h"
#include "atc/core_api.h"

// Elements of tensors as host values.
namespace atc::ascendc {

class Block;

/// The arithmetic value of a stored element: 16-bit floats as float.
template <class T>
T value_of(T v) {
  return v;
}
inline float value_of(Half v) { return to_float(v); }
inline float value_of(BFloat16 v) { return to_float(v); }
template <class T>
using arithmetic_t = decltype(value_of(T{}));

/// Back to storage: floats round to nearest even, integers wrap.
template <class T>
T stored(arithmetic_t<T> v) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(v);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(v);
  else
    return v;
}

/// Calls f(T{}) with the storage type of a type code; false for those without one (int4b_t).
template <class F>
bool with_type(std::uint8_t type, F f) {
  switch (type) {
    case ATC_F32:
      f(float{});
      return true;
    case ATC_F16:
      f(Half{});
      return true;
    case ATC_BF16:
      f(BFloat16{});
      return true;
    case ATC_I8:
      f(std::int8_t{});
      return true;
    case ATC_U8:
      f(std::uint8_t{});
      return true;
    case ATC_I16:
      f(std::int16_t{});
      return true;
    case ATC_U16:
      f(std::uint16_t{});
      return true;
    case ATC_I32:
      f(std::int32_t{});
      return true;
    case ATC_U32:
      f(std::uint32_t{});
      return true;
    case ATC_I64:
      f(std::int64_t{});
      return true;
    case ATC_U64:
      f(std::uint64_t{});
      return true;
    case ATC_F64:
      f(double{});
      return true;
    default:
      return false;
  }
}

/// A copy in the block's atomic mode: kept in Block::atomics until the core meets others.
void combine(Block& b, std::byte* dst, const std::byte* src, std::int64_t elements);

}  // namespace atc::ascendc
