#include "atc/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace atc {
namespace {

// The textbook meaning of a binary16 code, written without bit tricks.
double meaning(std::uint16_t code) {
  const double sign = (code & 0x8000) != 0 ? -1 : 1;
  const int field = (code >> 10) & 31;
  const int fraction = code & 1023;
  if (field == 31) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (field == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, field - 25);
}

TEST(Half, EveryCodeDecodesToItsMeaningAndBack) {
  for (unsigned code = 0; code < 65536; ++code) {
    const Half h{static_cast<std::uint16_t>(code)};
    const double expected = meaning(h.bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(to_float(h)));
      EXPECT_TRUE(std::isnan(to_float(to_half(to_float(h)))));
    } else {
      ASSERT_EQ(static_cast<double>(to_float(h)), expected) << code;
      ASSERT_EQ(to_half(to_float(h)), h) << code;
      ASSERT_EQ(to_half(expected), h) << code;
    }
  }
}

TEST(Half, RoundsToNearestEvenBetweenNeighbours) {
  for (unsigned code = 0; code < 0x7BFF; ++code) {
    const double low = meaning(static_cast<std::uint16_t>(code));
    const double high = meaning(static_cast<std::uint16_t>(code + 1));
    const double middle = (low + high) / 2;  // exact in float too
    const auto even = static_cast<std::uint16_t>(code + (code & 1));
    ASSERT_EQ(to_half(static_cast<float>(middle)).bits, even);
    ASSERT_EQ(to_half(middle).bits, even);
    ASSERT_EQ(to_half(std::nextafter(middle, 0.0)).bits, code);
    ASSERT_EQ(to_half(std::nextafter(middle, 1e9)).bits, code + 1);
    ASSERT_EQ(to_half(std::nextafterf(static_cast<float>(middle), 0.0F)).bits, code);
    ASSERT_EQ(to_half(-std::nextafter(middle, 1e9)).bits, (code + 1) | 0x8000);
  }
}

TEST(Half, Limits) {
  EXPECT_EQ(to_half(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(to_half(65520.0F).bits, 0x7C00);
  EXPECT_EQ(to_half(65519.9999999).bits, 0x7BFF);
  EXPECT_EQ(to_half(1e300).bits, 0x7C00);
  EXPECT_EQ(to_half(-std::numeric_limits<float>::infinity()).bits, 0xFC00);
  EXPECT_EQ(to_half(0x1p-25F).bits, 0);
  EXPECT_EQ(to_half(0x1.000002p-25F).bits, 1);
  EXPECT_EQ(to_half(-1e-300).bits, 0x8000);
}

TEST(Half, ArrayFormsEqualScalarBits) {
  std::mt19937 random(7);
  std::vector<float> floats(100003);
  for (float& f : floats) f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  for (std::size_t i = 0; i < 4096; ++i)  // half's own range, where uniform bits rarely fall
    floats[i] = std::ldexp(static_cast<float>(random()) / 4e9F, static_cast<int>(random() % 44) - 26);
  std::vector<Half> halves(floats.size());
  convert(floats.data(), halves.data(), floats.size());
  for (std::size_t i = 0; i < floats.size(); ++i) ASSERT_EQ(halves[i].bits, to_half(floats[i]).bits) << i;
  for (std::size_t i = 0; i < 65536; ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  std::vector<float> back(65536);
  convert(halves.data(), back.data(), back.size());
  for (std::size_t i = 0; i < back.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(back[i]), std::bit_cast<std::uint32_t>(to_float(halves[i]))) << i;
}

TEST(BFloat16, RoundsLikeTheNearerNeighbour) {
  std::mt19937 random(11);
  for (int i = 0; i < 200000; ++i) {
    const auto f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const BFloat16 b = to_bfloat16(f);
    if (std::isnan(f)) {
      ASSERT_TRUE(std::isnan(to_float(b)));
      continue;
    }
    ASSERT_EQ(to_bfloat16(static_cast<double>(f)), b);
    if (std::isinf(to_float(b))) continue;
    const double error = std::fabs(static_cast<double>(to_float(b)) - static_cast<double>(f));
    for (const int step : {-1, 1}) {
      const auto other = static_cast<std::uint16_t>(b.bits + step);
      const auto neighbour = static_cast<double>(to_float(BFloat16{other}));
      if (std::isfinite(neighbour) && std::signbit(neighbour) == std::signbit(f)) {
        ASSERT_LE(error, std::fabs(neighbour - static_cast<double>(f)));
      }
    }
  }
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F808000U)).bits, 0x3F80);  // ties to even
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F818000U)).bits, 0x3F82);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
}

TEST(BFloat16, FromDoubleRoundsOnce) {
  const double tie = 1.0 + 0x1p-8;  // halfway between 1 and its neighbour
  EXPECT_EQ(to_bfloat16(tie).bits, 0x3F80);
  EXPECT_EQ(to_bfloat16(tie + 0x1p-40).bits, 0x3F81);  // a float in between would round back to the tie
  EXPECT_EQ(to_half(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3C01);
}

TEST(BFloat16, ArrayFormsEqualScalarBits) {
  std::mt19937 random(13);
  std::vector<float> floats(10007);
  for (float& f : floats) f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  std::vector<BFloat16> out(floats.size());
  convert(floats.data(), out.data(), out.size());
  std::vector<float> back(out.size());
  convert(out.data(), back.data(), back.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], to_bfloat16(floats[i]));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(back[i]), std::uint32_t{out[i].bits} << 16);
  }
}

}  // namespace
}  // namespace atc
