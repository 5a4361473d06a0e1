#include "base/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace atc {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const std::vector<DType> kTypes = {DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ,
                                   DType::F4E2M1};

// Published limits: OCP 8-bit floating point specification, ONNX pages on float8 and float4.
TEST(SmallFloat, PublishedValues) {
  EXPECT_EQ(decode_small_float(DType::F8E4M3FN, 0x7E), 448);
  EXPECT_EQ(decode_small_float(DType::F8E4M3FN, 0x01), 0x1p-9);
  EXPECT_EQ(decode_small_float(DType::F8E4M3FN, 0x38), 1);
  EXPECT_TRUE(std::isnan(decode_small_float(DType::F8E4M3FN, 0xFF)));
  EXPECT_EQ(decode_small_float(DType::F8E4M3FNUZ, 0x7F), 240);
  EXPECT_EQ(decode_small_float(DType::F8E4M3FNUZ, 0x01), 0x1p-10);
  EXPECT_TRUE(std::isnan(decode_small_float(DType::F8E4M3FNUZ, 0x80)));
  EXPECT_EQ(decode_small_float(DType::F8E5M2, 0x7B), 57344);
  EXPECT_EQ(decode_small_float(DType::F8E5M2, 0x7C), kInf);
  EXPECT_EQ(decode_small_float(DType::F8E5M2, 0xFC), -kInf);
  EXPECT_TRUE(std::isnan(decode_small_float(DType::F8E5M2, 0x7D)));
  EXPECT_EQ(decode_small_float(DType::F8E5M2FNUZ, 0x7F), 57344);
  EXPECT_EQ(decode_small_float(DType::F8E5M2FNUZ, 0x01), 0x1p-17);
  const std::vector<double> fp4 = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::size_t i = 0; i < fp4.size(); ++i) {
    EXPECT_EQ(decode_small_float(DType::F4E2M1, static_cast<std::uint8_t>(i)), fp4[i]);
    EXPECT_EQ(decode_small_float(DType::F4E2M1, static_cast<std::uint8_t>(i + 8)), -fp4[i]);
  }
}

TEST(SmallFloat, EveryCodeRoundTrips) {
  for (const DType type : kTypes)
    for (int code = 0; code < 1 << bit_width(type); ++code) {
      const double v = decode_small_float(type, static_cast<std::uint8_t>(code));
      const std::uint8_t back = encode_small_float(type, v, Overflow::Special);
      if (std::isnan(v))
        EXPECT_TRUE(std::isnan(decode_small_float(type, back)));
      else
        EXPECT_EQ(back, code) << name(type);
    }
}

TEST(SmallFloat, RoundsToNearestEven) {
  for (const DType type : kTypes)
    for (int code = 0;; ++code) {
      const double low = decode_small_float(type, static_cast<std::uint8_t>(code));
      const double high = decode_small_float(type, static_cast<std::uint8_t>(code + 1));
      if (!std::isfinite(high) || high <= low) break;
      const double middle = (low + high) / 2;
      ASSERT_EQ(encode_small_float(type, middle), code + (code & 1)) << name(type) << " " << code;
      ASSERT_EQ(encode_small_float(type, std::nextafter(middle, 0)), code);
      ASSERT_EQ(encode_small_float(type, std::nextafter(middle, kInf)), code + 1);
    }
}

// The table of ONNX Cast: saturate = 1 and 0.
TEST(SmallFloat, OverflowFollowsOnnxCast) {
  EXPECT_EQ(encode_small_float(DType::F8E4M3FN, 463.9), 0x7E);
  EXPECT_EQ(encode_small_float(DType::F8E4M3FN, 1e6), 0x7E);
  EXPECT_EQ(encode_small_float(DType::F8E4M3FN, -kInf), 0xFE);
  EXPECT_EQ(encode_small_float(DType::F8E4M3FN, 463.9, Overflow::Special), 0x7E);  // rounds to 448
  EXPECT_EQ(encode_small_float(DType::F8E4M3FN, 464.1, Overflow::Special), 0x7F);
  EXPECT_EQ(encode_small_float(DType::F8E4M3FN, -kInf, Overflow::Special), 0xFF);
  EXPECT_EQ(encode_small_float(DType::F8E4M3FNUZ, 1e6), 0x7F);
  EXPECT_EQ(encode_small_float(DType::F8E4M3FNUZ, kInf), 0x80);
  EXPECT_EQ(encode_small_float(DType::F8E4M3FNUZ, -0.0), 0x00);
  EXPECT_EQ(encode_small_float(DType::F8E5M2, 1e300), 0x7B);
  EXPECT_EQ(encode_small_float(DType::F8E5M2, kInf), 0x7B);
  EXPECT_EQ(encode_small_float(DType::F8E5M2, -1e300, Overflow::Special), 0xFC);
  EXPECT_EQ(encode_small_float(DType::F8E5M2FNUZ, 1e5, Overflow::Special), 0x80);
  EXPECT_EQ(encode_small_float(DType::F4E2M1, -kInf, Overflow::Special), 0xF);
  EXPECT_EQ(encode_small_float(DType::F4E2M1, std::nan("")), 0x8);
}

TEST(SmallFloat, E8M0) {
  EXPECT_EQ(encode_e8m0(1.0), 127);
  EXPECT_EQ(decode_small_float(DType::F8E8M0, 127), 1.0);
  EXPECT_EQ(decode_small_float(DType::F8E8M0, 0), 0x1p-127);
  EXPECT_TRUE(std::isnan(decode_small_float(DType::F8E8M0, 255)));
  EXPECT_EQ(encode_e8m0(1.5), 128);
  EXPECT_EQ(encode_e8m0(1.49), 127);
  EXPECT_EQ(encode_e8m0(1.01, E8M0Round::Up), 128);
  EXPECT_EQ(encode_e8m0(1.99, E8M0Round::Down), 127);
  EXPECT_EQ(encode_e8m0(0.0), 0);
  EXPECT_EQ(encode_e8m0(-2.0), 255);
  EXPECT_EQ(encode_e8m0(1e300), 254);
  EXPECT_EQ(encode_e8m0(1e300, E8M0Round::Nearest, Overflow::Special), 255);
}

}  // namespace
}  // namespace atc
