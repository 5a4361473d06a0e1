#include <cmath>
#include <limits>

#include "ascendc/elements.h"
#include "ascendc/vector_ops.h"

// Cast by rounding mode. Floats that become integers saturate, NaN becomes 0; integers that become narrower
// saturate.
namespace atc::ascendc {
namespace {

enum Mode { kNone, kRint, kFloor, kCeil, kRound, kTrunc, kOdd };

double to_whole(double v, int mode) {
  switch (mode) {
    case kFloor:
      return std::floor(v);
    case kCeil:
      return std::ceil(v);
    case kRound:
      return std::round(v);
    case kTrunc:
      return std::trunc(v);
    default:
      return std::nearbyint(v);
  }
}

// The neighbour of `v` in a narrower float type whose nearest value is `near`: `down` below, else above.
template <class T, class Next>
T directed(double v, T near, double value, bool down, Next next) {
  if (std::isnan(v) || value == v) return near;
  if (down ? value < v : value > v) return near;
  return next(near, down);
}

// Steps of a 16-bit float by its bits.
template <class T>
T step(T v, bool down) {
  const bool negative = (v.bits & 0x8000U) != 0, zero = (v.bits & 0x7fffU) == 0;
  if (zero) return T{static_cast<std::uint16_t>(down ? 0x8001U : 0x0001U)};
  return T{static_cast<std::uint16_t>(negative == down ? v.bits + 1 : v.bits - 1)};
}
float step(float v, bool down) {
  return std::nextafter(
      v, down ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity());
}

double as_double(Half v) { return static_cast<double>(to_float(v)); }
double as_double(BFloat16 v) { return static_cast<double>(to_float(v)); }
double as_double(float v) { return static_cast<double>(v); }

template <class T>
T nearest(double v) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(v);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(v);
  else
    return static_cast<float>(v);
}

template <class T>
std::uint32_t bits(T v) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(v);
  else
    return v.bits;
}

template <class T>
T to_narrow(double v, int mode) {
  const T near = nearest<T>(v);
  const double value = as_double(near);
  auto next = [](T x, bool down) { return step(x, down); };
  switch (mode) {
    case kFloor:
      return directed(v, near, value, true, next);
    case kCeil:
      return directed(v, near, value, false, next);
    case kTrunc:
      return directed(v, near, value, v > 0, next);
    case kRound: {
      // Half away from zero differs from the nearest even one only in a tie.
      const T away = v > 0 ? step(near, false) : step(near, true);
      return !std::isnan(v) && !std::isinf(as_double(away)) && std::abs(value) < std::abs(v) &&
                     std::abs(as_double(away) - v) == std::abs(v - value)
                 ? away
                 : near;
    }
    case kOdd: {
      if (std::isnan(v) || value == v) return near;
      const T low = directed(v, near, value, true, next), high = directed(v, near, value, false, next);
      return (bits(low) & 1) != 0 ? low : high;
    }
    default:
      return near;
  }
}

template <class T>
T saturate(double whole) {
  if (std::isnan(whole)) return 0;
  if (whole <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (whole >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(whole);
}

int nibble(const std::byte* p, std::int64_t i) {
  const int v = static_cast<int>(p[i / 2]) >> (i % 2 * 4) & 15;
  return v >= 8 ? v - 16 : v;
}
void set_nibble(std::byte* p, std::int64_t i, int v) {
  const int shift = static_cast<int>(i % 2 * 4);
  p[i / 2] = static_cast<std::byte>((static_cast<int>(p[i / 2]) & ~(15 << shift)) | (v & 15) << shift);
}

template <class D, class S>
void loop(const LaneData& d, int mode, double scale) {
  auto* out = reinterpret_cast<D*>(d.dst);
  const auto* in = reinterpret_cast<const S*>(d.a);
  for (std::int64_t i = 0; i < d.n; ++i) {
    if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
      const auto v = static_cast<std::int64_t>(in[i]);
      out[i] = v < static_cast<std::int64_t>(std::numeric_limits<D>::min())   ? std::numeric_limits<D>::min()
               : v > static_cast<std::int64_t>(std::numeric_limits<D>::max()) ? std::numeric_limits<D>::max()
                                                                              : static_cast<D>(v);
    } else {
      const double v = static_cast<double>(value_of(in[i])) * scale;
      if constexpr (std::is_integral_v<D>)
        out[i] = saturate<D>(to_whole(v, mode));
      else
        out[i] = to_narrow<D>(v, mode);
    }
  }
}

template <class S>
bool from_type(std::uint8_t to, int mode, double scale, const LaneData& d) {
  switch (to) {
    case ATC_F32:
      loop<float, S>(d, mode, scale);
      return true;
    case ATC_F16:
      loop<Half, S>(d, mode, scale);
      return true;
    case ATC_BF16:
      loop<BFloat16, S>(d, mode, scale);
      return true;
    case ATC_I64:
      loop<std::int64_t, S>(d, mode, scale);
      return true;
    case ATC_I32:
      loop<std::int32_t, S>(d, mode, scale);
      return true;
    case ATC_I16:
      loop<std::int16_t, S>(d, mode, scale);
      return true;
    case ATC_I8:
      loop<std::int8_t, S>(d, mode, scale);
      return true;
    case ATC_U8:
      loop<std::uint8_t, S>(d, mode, scale);
      return true;
    default:
      return false;
  }
}

}  // namespace

bool convert_elements(std::uint8_t to, std::uint8_t from, int mode, float deq_scale, const LaneData& d) {
  const double scale = from == ATC_I32 && to == ATC_F16 ? static_cast<double>(deq_scale) : 1.0;
  const bool nearest_even = mode == kNone || mode == kRint;
  const auto n = static_cast<std::size_t>(d.n);
  if (from == ATC_F16 && to == ATC_F32)
    return convert(reinterpret_cast<const Half*>(d.a), reinterpret_cast<float*>(d.dst), n), true;
  if (from == ATC_BF16 && to == ATC_F32)
    return convert(reinterpret_cast<const BFloat16*>(d.a), reinterpret_cast<float*>(d.dst), n), true;
  if (from == ATC_F32 && to == ATC_F16 && nearest_even)
    return convert(reinterpret_cast<const float*>(d.a), reinterpret_cast<Half*>(d.dst), n), true;
  if (from == ATC_F32 && to == ATC_BF16 && nearest_even)
    return convert(reinterpret_cast<const float*>(d.a), reinterpret_cast<BFloat16*>(d.dst), n), true;
  if (from == ATC_F32 && to == ATC_F32) {
    for (std::int64_t i = 0; i < d.n; ++i) {
      const float v = reinterpret_cast<const float*>(d.a)[i];
      reinterpret_cast<float*>(d.dst)[i] =
          mode == kNone ? v : static_cast<float>(to_whole(static_cast<double>(v), mode));
    }
    return true;
  }
  if (to == ATC_I4 && from == ATC_F16) {
    for (std::int64_t i = 0; i < d.n; ++i) {
      const double whole = to_whole(as_double(reinterpret_cast<const Half*>(d.a)[i]), mode);
      set_nibble(d.dst, i, std::isnan(whole) ? 0 : static_cast<int>(std::fmin(std::fmax(whole, -8.0), 7.0)));
    }
    return true;
  }
  if (from == ATC_I4 && to == ATC_F16) {
    for (std::int64_t i = 0; i < d.n; ++i)
      reinterpret_cast<Half*>(d.dst)[i] = to_half(static_cast<float>(nibble(d.a, i)));
    return true;
  }
  switch (from) {
    case ATC_F32:
      return from_type<float>(to, mode, scale, d);
    case ATC_F16:
      return from_type<Half>(to, mode, scale, d);
    case ATC_BF16:
      return from_type<BFloat16>(to, mode, scale, d);
    case ATC_I64:
      return from_type<std::int64_t>(to, mode, scale, d);
    case ATC_I32:
      return from_type<std::int32_t>(to, mode, scale, d);
    case ATC_I16:
      return from_type<std::int16_t>(to, mode, scale, d);
    case ATC_I8:
      return from_type<std::int8_t>(to, mode, scale, d);
    case ATC_U8:
      return from_type<std::uint8_t>(to, mode, scale, d);
    default:
      return false;
  }
}

}  // namespace atc::ascendc
