#pragma once

// Functions of the high-level library: each is one call here whose time is that of the instructions it
// expands into. A temporary tensor may be given and is not needed.
#include <cstdint>

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
#undef ATC_FUNCTION

/// x / (1 + exp(-beta x)).
template <class T, bool isReuseSource = false>
void Swish(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count, detail::same_t<T> beta,
           detail::Site site = detail::Site()) {
  detail::function<ATC_SWISH>(dst, src, count, static_cast<double>(static_cast<float>(beta)), site);
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
using std::is_same;
template <class T, class U>
inline constexpr bool is_same_v = std::is_same_v<T, U>;
}  // namespace Std

}  // namespace AscendC
