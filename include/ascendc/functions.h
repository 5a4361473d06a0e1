#pragma once

// Functions of the high-level library: each is one call here whose time is that of the instructions it
// expands into. A temporary tensor may be given and is not needed.
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "ascendc/vector.h"

namespace AscendC {
namespace detail {

template <AtcVecOp code, class T>
void function(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count, double scalar,
              const Site& site) {
  check_type<T, float, half>();
  AtcVector v = instruction(code, operand(dst), operand(src), no_operand(), count_lanes(count));
  v.scalar = scalar;
  run(v, site);
}

template <class T>
bool same_place(const LocalTensor<T>& a, const LocalTensor<T>& b) {
  return a.place().memory == b.place().memory && a.place().offset == b.place().offset;
}

}  // namespace detail

#define ATC_FUNCTION(Name, code)                                                                            \
  template <class T, bool isReuseSource = false>                                                            \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/, \
            std::uint32_t count, detail::Site site = detail::Site()) {                                      \
    detail::function<code>(dst, src, count, 0.0, site);                                                     \
  }                                                                                                         \
  template <class T, bool isReuseSource = false>                                                            \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,                      \
            detail::Site site = detail::Site()) {                                                           \
    detail::function<code>(dst, src, count, 0.0, site);                                                     \
  }                                                                                                         \
  template <class T, bool isReuseSource = false>                                                            \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, detail::Site site = detail::Site()) {     \
    detail::function<code>(dst, src, src.GetSize(), 0.0, site);                                             \
  }

ATC_FUNCTION(Sigmoid, ATC_SIGMOID)
ATC_FUNCTION(Tanh, ATC_TANH)
ATC_FUNCTION(Erf, ATC_ERF)
ATC_FUNCTION(Sin, ATC_SIN)
ATC_FUNCTION(Cos, ATC_COS)
ATC_FUNCTION(Tan, ATC_TAN)
ATC_FUNCTION(Floor, ATC_FLOOR)
ATC_FUNCTION(Ceil, ATC_CEIL)
ATC_FUNCTION(Round, ATC_ROUND)
ATC_FUNCTION(Trunc, ATC_TRUNC)
ATC_FUNCTION(Sign, ATC_SIGN)
ATC_FUNCTION(Log, ATC_LN)
ATC_FUNCTION(Log2, ATC_LOG2)
ATC_FUNCTION(Log10, ATC_LOG10)
ATC_FUNCTION(Erfc, ATC_ERFC)
ATC_FUNCTION(Sinh, ATC_SINH)
ATC_FUNCTION(Cosh, ATC_COSH)
ATC_FUNCTION(Asin, ATC_ASIN)
ATC_FUNCTION(Acos, ATC_ACOS)
ATC_FUNCTION(Atan, ATC_ATAN)
ATC_FUNCTION(Asinh, ATC_ASINH)
ATC_FUNCTION(Acosh, ATC_ACOSH)
ATC_FUNCTION(Atanh, ATC_ATANH)
ATC_FUNCTION(Lgamma, ATC_LGAMMA)
ATC_FUNCTION(Digamma, ATC_DIGAMMA)
ATC_FUNCTION(Frac, ATC_FRAC)
#undef ATC_FUNCTION

/// With the terms of the series that hardware is to use; the result here does not depend on them.
template <class T, std::uint8_t taylorExpandLevel, bool isReuseSource = false>
void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
         std::uint32_t count, detail::Site site = detail::Site()) {
  detail::function<ATC_EXP>(dst, src, count, 0.0, site);
}
template <class T, std::uint8_t taylorExpandLevel, bool isReuseSource = false>
void Exp(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
         detail::Site site = detail::Site()) {
  detail::function<ATC_EXP>(dst, src, count, 0.0, site);
}

/// x / (1 + exp(-beta x)).
template <class T, bool isReuseSource = false>
void Swish(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count, detail::same_t<T> beta,
           detail::Site site = detail::Site()) {
  detail::function<ATC_SWISH>(dst, src, count, static_cast<double>(static_cast<float>(beta)), site);
}
template <class T, bool isReuseSource = false>
void Swish(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
           std::uint32_t count, detail::same_t<T> beta, detail::Site site = detail::Site()) {
  Swish<T>(dst, src, count, beta, site);
}
template <class T, bool isReuseSource = false>
void Silu(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
          std::uint32_t count, detail::Site site = detail::Site()) {
  detail::function<ATC_SWISH>(dst, src, count, 1.0, site);
}
template <class T, bool isReuseSource = false>
void Silu(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
          detail::Site site = detail::Site()) {
  detail::function<ATC_SWISH>(dst, src, count, 1.0, site);
}
/// The form by tanh.
template <class T, bool highPrecision = false, bool highPerformance = false>
void Gelu(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
          std::uint32_t count, detail::Site site = detail::Site()) {
  detail::function<ATC_GELU>(dst, src, count, 0.0, site);
}
template <class T, bool highPrecision = false, bool highPerformance = false>
void Gelu(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
          detail::Site site = detail::Site()) {
  detail::function<ATC_GELU>(dst, src, count, 0.0, site);
}
/// x / (1 + exp(-1.702 x)).
template <class T, bool highPrecision = false, bool highPerformance = false>
void FasterGelu(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                const LocalTensor<std::uint8_t>& /*tmp*/, std::uint32_t count,
                detail::Site site = detail::Site()) {
  detail::function<ATC_SWISH>(dst, src, count, 1.702, site);
}
template <class T, bool highPrecision = false, bool highPerformance = false>
void FasterGelu(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
                detail::Site site = detail::Site()) {
  detail::function<ATC_SWISH>(dst, src, count, 1.702, site);
}
/// x * Phi(x) with the normal distribution as two parabolas: for |x| < 1.769 / 0.7071
/// Phi(x) = 0.5 + sgn(x) (0.5 - 0.1444 (|0.7071 x| - 1.769)^2).
template <class T, bool highPrecision = false, bool highPerformance = false>
void FasterGeluV2(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                  const LocalTensor<std::uint8_t>& /*tmp*/, std::uint32_t count,
                  detail::Site site = detail::Site()) {
  detail::function<ATC_GELU_V2>(dst, src, count, 0.0, site);
}
template <class T, bool highPrecision = false, bool highPerformance = false>
void FasterGeluV2(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
                  detail::Site site = detail::Site()) {
  detail::function<ATC_GELU_V2>(dst, src, count, 0.0, site);
}

// dst = src0 * f(src1); the temporary of f is in dst, so dst is not src0.
#define ATC_GATED(Name, code, beta_value, ...)                                                             \
  template <class T, bool isReuseSource = false>                                                           \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1 __VA_ARGS__, \
            std::uint32_t count, detail::Site site = detail::Site()) {                                     \
    detail::gated<code>(dst, src0, src1, count, beta_value, site);                                         \
  }                                                                                                        \
  template <class T, bool isReuseSource = false>                                                           \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1 __VA_ARGS__, \
            const LocalTensor<std::uint8_t>& /*tmp*/, std::uint32_t count,                                 \
            detail::Site site = detail::Site()) {                                                          \
    detail::gated<code>(dst, src0, src1, count, beta_value, site);                                         \
  }
namespace detail {
template <AtcVecOp code, class T>
void gated(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
           std::uint32_t count, double beta, const Site& site) {
  const LocalTensor<T>& other = same_place(dst, src0) ? src1 : src0;
  if (same_place(dst, src0)) {
    // The function's result takes its argument's place, then.
    function<code>(src1, src1, count, beta, site);
  } else {
    function<code>(dst, src1, count, beta, site);
  }
  run(instruction(ATC_MUL, operand(dst), operand(dst), operand(other), count_lanes(count)), site);
}
}  // namespace detail
ATC_GATED(SwiGLU, ATC_SWISH, static_cast<double>(beta), , const float& beta)
ATC_GATED(GeGLU, ATC_GELU, 0.0)
ATC_GATED(ReGlu, ATC_RELU, 0.0)
#undef ATC_GATED

template <class T, bool isReuseSource = false>
void Hypot(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
           std::uint32_t count, detail::Site site = detail::Site()) {
  detail::check_type<T, float, half>();
  detail::run(detail::instruction(ATC_HYPOT, detail::operand(dst), detail::operand(src0),
                                  detail::operand(src1), detail::count_lanes(count)),
              site);
}
template <class T, bool isReuseSource = false>
void Hypot(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
           const LocalTensor<std::uint8_t>& /*tmp*/, std::uint32_t count,
           detail::Site site = detail::Site()) {
  Hypot<T>(dst, src0, src1, count, site);
}
template <class T, bool isReuseSource = false>
void Xor(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
         std::uint32_t count, detail::Site site = detail::Site()) {
  detail::check_type<T, std::int16_t, std::uint16_t>();
  detail::run(detail::instruction(ATC_XOR, detail::operand(dst), detail::operand(src0), detail::operand(src1),
                                  detail::count_lanes(count)),
              site);
}
template <class T, bool isReuseSource = false>
void Xor(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
         const LocalTensor<std::uint8_t>& /*tmp*/, std::uint32_t count, detail::Site site = detail::Site()) {
  Xor<T>(dst, src0, src1, count, site);
}

/// Elements above `scalar` become it; ClampMin: those below.
template <class T, bool isReuseSource = false>
void ClampMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
              detail::same_t<T> scalar, std::uint32_t count, detail::Site site = detail::Site()) {
  Mins(dst, src, scalar, static_cast<std::int32_t>(count), site);
}
template <class T, bool isReuseSource = false>
void ClampMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, detail::same_t<T> scalar,
              std::uint32_t count, detail::Site site = detail::Site()) {
  Mins(dst, src, scalar, static_cast<std::int32_t>(count), site);
}
template <class T, bool isReuseSource = false>
void ClampMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<std::uint8_t>& /*tmp*/,
              detail::same_t<T> scalar, std::uint32_t count, detail::Site site = detail::Site()) {
  Maxs(dst, src, scalar, static_cast<std::int32_t>(count), site);
}
template <class T, bool isReuseSource = false>
void ClampMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, detail::same_t<T> scalar,
              std::uint32_t count, detail::Site site = detail::Site()) {
  Maxs(dst, src, scalar, static_cast<std::int32_t>(count), site);
}
template <class T, bool isReuseSource = false>
void Clamp(const LocalTensor<T>& dst, const LocalTensor<T>& src, detail::same_t<T> low,
           detail::same_t<T> high, std::uint32_t count, detail::Site site = detail::Site()) {
  Maxs(dst, src, low, static_cast<std::int32_t>(count), site);
  Mins(dst, dst, high, static_cast<std::int32_t>(count), site);
}

/// base ^ exponent.
template <class T, bool isReuseSource = false>
void Power(const LocalTensor<T>& dst, const LocalTensor<T>& base, const LocalTensor<T>& exponent,
           std::uint32_t count, detail::Site site = detail::Site()) {
  detail::check_type<T, float, half>();
  detail::run(detail::instruction(ATC_POWER, detail::operand(dst), detail::operand(base),
                                  detail::operand(exponent), detail::count_lanes(count)),
              site);
}
template <class T, bool isReuseSource = false>
void Power(const LocalTensor<T>& dst, const LocalTensor<T>& base, detail::same_t<T> exponent,
           std::uint32_t count, detail::Site site = detail::Site()) {
  detail::function<ATC_POWER>(dst, base, count, static_cast<double>(static_cast<float>(exponent)), site);
}

template <class T, bool isReuseSource = false>
void Power(const LocalTensor<T>& dst, const LocalTensor<T>& base, const LocalTensor<T>& exponent,
           const LocalTensor<std::uint8_t>& /*tmp*/, std::uint32_t count,
           detail::Site site = detail::Site()) {
  Power<T>(dst, base, exponent, count, site);
}
template <class T, bool isReuseSource = false>
void Power(const LocalTensor<T>& dst, const LocalTensor<T>& base, detail::same_t<T> exponent,
           const LocalTensor<std::uint8_t>& /*tmp*/, std::uint32_t count,
           detail::Site site = detail::Site()) {
  detail::function<ATC_POWER>(dst, base, count, static_cast<double>(static_cast<float>(exponent)), site);
}

/// The standard library's, under the device library's name.
namespace Std {
template <class T, class U>
constexpr T min(T a, U b) {
  return b < a ? static_cast<T>(b) : a;
}
template <class T, class U>
constexpr T max(T a, U b) {
  return a < b ? static_cast<T>(b) : a;
}
using std::conditional;
using std::conditional_t;
using std::enable_if;
using std::enable_if_t;
using std::get;
using std::integral_constant;
using std::is_same;
using std::make_tuple;
using std::tuple;
template <class T, class U>
inline constexpr bool is_same_v = std::is_same_v<T, U>;
}  // namespace Std

}  // namespace AscendC
