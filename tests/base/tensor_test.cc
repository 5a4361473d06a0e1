#include "atc/base/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "atc/base/half.h"

namespace atc {
namespace {

using ::testing::ElementsAre;

TEST(DType, TableIsConsistent) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name(t)), t);
    EXPECT_FALSE(is_float(t) && is_integer(t));
  }
  EXPECT_FALSE(dtype_from_name("float32").has_value());
  EXPECT_EQ(onnx_name(DType::F8E5M2FNUZ), "FLOAT8E5M2FNUZ");
  EXPECT_TRUE(is_signed(DType::I4));
  EXPECT_FALSE(is_signed(DType::U2));
  EXPECT_FALSE(is_integer(DType::Bool));
}

TEST(DType, PackedSizesRoundUp) {
  EXPECT_EQ(byte_size(DType::U4, 3), 2U);
  EXPECT_EQ(byte_size(DType::I2, 5), 2U);
  EXPECT_EQ(byte_size(DType::F32, 3), 12U);
  EXPECT_EQ(byte_size(DType::String, 3), 0U);
  EXPECT_THROW(static_cast<void>(byte_size(DType::F64, std::numeric_limits<std::size_t>::max() / 4)),
               InternalError);
}

TEST(ElementCount, ChecksOverflow) {
  EXPECT_EQ(element_count(Dims{}), 1);
  EXPECT_EQ(element_count(Dims{2, 3}), 6);
  EXPECT_EQ(element_count(Dims{1LL << 40, 1LL << 40}), -1);
  EXPECT_EQ(element_count(Dims{1LL << 40, 1LL << 40, 0}), 0);
  EXPECT_EQ(element_count(Dims{2, -1}), -1);
  EXPECT_EQ(to_string(Dims{1, 3, -1}), "1,3,-1");
}

TEST(Tensor, TypedViewsAndAlignment) {
  MutableTensor m(DType::F32, {2, 3});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.bytes().data()) % 64, 0U);
  m.as<float>()[5] = 4;
  EXPECT_THROW(m.as<double>(), InternalError);
  const Tensor t = std::move(m).freeze();
  EXPECT_EQ(t.as<float>()[5], 4);
  EXPECT_EQ(t.as<float>()[0], 0);
  EXPECT_THROW(MutableTensor(DType::F32, {1LL << 40, 1LL << 40}), InternalError);
}

TEST(Tensor, PackedIntegersBeginWithTheLowBits) {
  const std::vector<std::int64_t> values = {1, -2, 7, -8, 3};
  const Tensor t = from_int64s(DType::I4, {5}, values);
  ASSERT_EQ(t.data.size(), 3U);
  EXPECT_EQ(std::to_integer<int>(t.data.data()[0]), 0xE1);
  EXPECT_EQ(std::to_integer<int>(t.data.data()[1]), 0x87);
  EXPECT_EQ(std::to_integer<int>(t.data.data()[2]), 0x03);
  EXPECT_EQ(to_int64s(t), values);
  const Tensor u2 = from_int64s(DType::U2, {4}, std::vector<std::int64_t>{0, 1, 2, 3});
  EXPECT_EQ(std::to_integer<int>(u2.data.data()[0]), 0xE4);
  EXPECT_THAT(to_int64s(u2), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(to_int64s(from_int64s(DType::I2, {4}, std::vector<std::int64_t>{-2, -1, 0, 1})),
              ElementsAre(-2, -1, 0, 1));
  EXPECT_THAT(to_doubles(from_doubles(DType::F4E2M1, {3}, std::vector<double>{-6, 0.5, 2.4})),
              ElementsAre(-6, 0.5, 2));
}

TEST(Tensor, EveryNumericDTypeRoundTripsSmallIntegers) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!is_float(dtype) && !is_integer(dtype) && dtype != DType::Bool) continue;
    const std::vector<double> values =
        dtype == DType::F8E8M0 ? std::vector<double>{1, 1, 1} : std::vector<double>{1, 0, 1};
    const Tensor t = from_doubles(dtype, {3}, values);
    EXPECT_EQ(to_doubles(t), values) << name(dtype);
    EXPECT_THAT(to_int64s(t), ElementsAre(1, static_cast<std::int64_t>(values[1]), 1)) << name(dtype);
    EXPECT_EQ(t.data.size(), t.byte_size());
  }
}

TEST(Tensor, IntegersWrapAndRoundToEven) {
  EXPECT_THAT(to_int64s(from_doubles(DType::U8, {4}, std::vector<double>{256, -1, 2.5, 3.5})),
              ElementsAre(0, 255, 2, 4));
  EXPECT_THAT(to_int64s(from_int64s(DType::I8, {2}, std::vector<std::int64_t>{128, 300})),
              ElementsAre(-128, 44));
  const double nan = std::nan("");
  EXPECT_THAT(to_int64s(from_doubles(DType::I32, {2}, std::vector<double>{nan, 0x1p32 + 5})),
              ElementsAre(0, 5));
  EXPECT_THAT(to_int64s(from_doubles(DType::F64, {3}, std::vector<double>{nan, 1e300, -2.9})),
              ElementsAre(0, std::numeric_limits<std::int64_t>::max(), -2));
}

TEST(Tensor, LargeIntegersRoundOnce) {
  // 2^56 + 2^48 is a tie of bfloat16; the extra 1 is lost in a double, but must still break the tie.
  const std::int64_t tie = (1LL << 56) + (1LL << 48);
  const std::vector<std::int64_t> values = {tie, tie + 1, -(tie + 1)};
  const Tensor t = from_int64s(DType::BF16, {3}, values);
  const auto bits = t.as<std::uint16_t>();
  EXPECT_EQ(bits[1], bits[0] + 1);
  EXPECT_EQ(bits[2], bits[1] | 0x8000);
  const auto max =
      from_int64s(DType::I64, {1}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(to_int64s(max)[0], std::numeric_limits<std::int64_t>::min());
}

TEST(Tensor, HalfValues) {
  const Tensor t = scalar_tensor(DType::F16, 0.1);
  EXPECT_TRUE(t.shape.empty());
  EXPECT_EQ(t.as<Half>()[0], to_half(0.1));
}

TEST(Tensor, ShortDataIsABug) {
  Tensor t = scalar_tensor(DType::F32, 1);
  t.shape = {2};
  EXPECT_THROW(static_cast<void>(to_doubles(t)), InternalError);
  EXPECT_THROW(static_cast<void>(to_doubles(Tensor{DType::String, {1}, {}, {"a"}})), InternalError);
}

TEST(Bytes, LargeBlocksAreZeroAndHugePageAligned) {
  MutableBytes block((std::size_t{2} << 20) + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % (std::size_t{2} << 20), 0U);
  for (const std::byte b : block.span()) ASSERT_EQ(b, std::byte{0});
  std::memset(block.data(), 7, block.size());
  const std::byte* data = block.data();
  const Bytes frozen = std::move(block).freeze();
  EXPECT_EQ(frozen.data(), data);  // no copy
  const Bytes part = frozen.subspan(3, 4);
  EXPECT_EQ(part.size(), 4U);
  const Bytes copy = Bytes::copy_of(part.span());
  EXPECT_NE(copy.data(), part.data());
  EXPECT_EQ(copy.data()[0], std::byte{7});
  EXPECT_TRUE(Bytes::copy_of({}).empty());
}

}  // namespace
}  // namespace atc
