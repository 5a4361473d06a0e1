#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace atc {

/// IEEE 754 binary16, round to nearest even. Storage only; arithmetic is done in float.
struct Half {
  std::uint16_t bits = 0;
  friend bool operator==(Half, Half) = default;
};
/// bfloat16: the upper half of a float, round to nearest even.
struct BFloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(BFloat16, BFloat16) = default;
};

Half to_half(float v);
float to_float(Half h);
BFloat16 to_bfloat16(float v);
inline float to_float(BFloat16 b) { return std::bit_cast<float>(std::uint32_t{b.bits} << 16); }
/// Rounds once (through float would round twice).
Half to_half(double v);
BFloat16 to_bfloat16(double v);

/// Array forms; F16C where the CPU has it, equal bits where it has not.
void convert(const Half* src, float* dst, std::size_t n);
void convert(const float* src, Half* dst, std::size_t n);
void convert(const BFloat16* src, float* dst, std::size_t n);
void convert(const float* src, BFloat16* dst, std::size_t n);

}  // namespace atc
