#include "atc/base/half.h"

#include <cpuid.h>
#include <immintrin.h>

#include <cmath>

namespace atc {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInf = 0x7F800000U;

/// binary32 bits to binary16 bits, to nearest even; a NaN keeps its sign and upper payload and becomes
/// quiet, as the VCVTPS2PH instruction does.
inline std::uint16_t half_bits(std::uint32_t f) {
  const auto sign = static_cast<std::uint16_t>((f & kSign) >> 16);
  const std::uint32_t mag = f & ~kSign;
  if (mag > kInf) return static_cast<std::uint16_t>(sign | 0x7E00U | ((mag >> 13) & 0x1FFU));
  if (mag >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // 65520 and more
  if (mag < 0x38800000U) {                                                    // below 2^-14: subnormal
    // Adding 0.5 aligns the sum's last bit with 2^-24, half's smallest step, so the FPU rounds for us.
    const float sum = std::bit_cast<float>(mag) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(sum) - 0x3F000000U));
  }
  const std::uint32_t odd = (mag >> 13) & 1U;
  return static_cast<std::uint16_t>(sign | ((mag - 0x38000000U + 0xFFFU + odd) >> 13));
}

inline float half_value(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16;
  const std::uint32_t mag = h & 0x7FFFU;
  if (mag >= 0x7C00U) {
    const std::uint32_t quiet = mag > 0x7C00U ? 0x00400000U : 0U;
    return std::bit_cast<float>(sign | kInf | ((mag & 0x3FFU) << 13) | quiet);
  }
  if (mag < 0x400U) {
    const float v = static_cast<float>(mag) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) | sign);
  }
  return std::bit_cast<float>(sign | ((mag << 13) + 0x38000000U));
}

inline std::uint16_t bfloat_bits(std::uint32_t f) {
  const std::uint32_t rounded = (f + 0x7FFFU + ((f >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (f >> 16) | 0x40U;
  return static_cast<std::uint16_t>((f & ~kSign) > kInf ? quiet : rounded);
}

/// To float, rounding to odd: the last bit says "inexact", so that a second rounding to a type of at most
/// 22 bits gives what one rounding from double gives.
float round_to_odd(double v) {
  const auto f = static_cast<float>(v);
  if (std::isnan(v) || static_cast<double>(f) == v) return f;
  auto bits = std::bit_cast<std::uint32_t>(f);
  if (std::fabs(static_cast<double>(f)) > std::fabs(v)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

void halves_to_floats(const Half* src, float* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dst[i] = half_value(src[i].bits);
}

void floats_to_halves(const float* src, Half* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dst[i].bits = half_bits(std::bit_cast<std::uint32_t>(src[i]));
}

__attribute__((target("avx,f16c"))) void halves_to_floats_f16c(const Half* src, float* dst, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i));
    _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(h));
  }
  halves_to_floats(src + i, dst + i, n - i);
}

__attribute__((target("avx,f16c"))) void floats_to_halves_f16c(const float* src, Half* dst, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i), h);
  }
  floats_to_halves(src + i, dst + i, n - i);
}

inline void floats_to_bfloats(const float* src, BFloat16* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dst[i].bits = bfloat_bits(std::bit_cast<std::uint32_t>(src[i]));
}

inline void bfloats_to_floats(const BFloat16* src, float* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dst[i] = to_float(src[i]);
}

// Same loops, left to the vectoriser.
__attribute__((target("avx2"))) void floats_to_bfloats_avx2(const float* src, BFloat16* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dst[i].bits = bfloat_bits(std::bit_cast<std::uint32_t>(src[i]));
}

__attribute__((target("avx2"))) void bfloats_to_floats_avx2(const BFloat16* src, float* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dst[i] = std::bit_cast<float>(std::uint32_t{src[i].bits} << 16);
}

bool has_f16c() {
  // Not every compiler's __builtin_cpu_supports knows F16C; that of AVX also asks the operating system.
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  }();
  return has;
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

}  // namespace

Half to_half(float v) { return {half_bits(std::bit_cast<std::uint32_t>(v))}; }
float to_float(Half h) { return half_value(h.bits); }
BFloat16 to_bfloat16(float v) { return {bfloat_bits(std::bit_cast<std::uint32_t>(v))}; }
Half to_half(double v) { return to_half(round_to_odd(v)); }
BFloat16 to_bfloat16(double v) { return to_bfloat16(round_to_odd(v)); }

void convert(const Half* src, float* dst, std::size_t n) {
  has_f16c() ? halves_to_floats_f16c(src, dst, n) : halves_to_floats(src, dst, n);
}

void convert(const float* src, Half* dst, std::size_t n) {
  has_f16c() ? floats_to_halves_f16c(src, dst, n) : floats_to_halves(src, dst, n);
}

void convert(const BFloat16* src, float* dst, std::size_t n) {
  has_avx2() ? bfloats_to_floats_avx2(src, dst, n) : bfloats_to_floats(src, dst, n);
}

void convert(const float* src, BFloat16* dst, std::size_t n) {
  has_avx2() ? floats_to_bfloats_avx2(src, dst, n) : floats_to_bfloats(src, dst, n);
}

}  // namespace atc
