#include "ops/reference_util.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/integer_math.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;

TEST(StridedWalk, KeepsOffsetsOfBroadcastOperands) {
  std::vector<std::int64_t> offsets;
  for (StridedWalk w({2, 3}, {strides_over({2, 1}, {2, 3}), strides_over({3}, {2, 3})}); !w.done(); w.next())
    offsets.push_back(w.offset(0) * 10 + w.offset(1));
  EXPECT_THAT(offsets, ElementsAre(0, 1, 2, 10, 11, 12));
}

TEST(StridedWalk, ScalarAndEmptySpaces) {
  int scalar = 0;
  for (NdIndex at(Dims{}); !at.done(); at.next()) ++scalar;
  EXPECT_EQ(scalar, 1);
  int empty = 0;
  for (NdIndex at(Dims{3, 0}); !at.done(); at.next()) ++empty;
  EXPECT_EQ(empty, 0);
}

TEST(BroadcastDims, Rules) {
  EXPECT_EQ(broadcast_dims({2, 1}, {4}), (Dims{2, 4}));
  EXPECT_EQ(broadcast_dims({0}, {1}), (Dims{0}));
  EXPECT_EQ(broadcast_dims({2}, {3}), std::nullopt);
}

TEST(NormalizeAxes, RefusesOutsideAndDuplicates) {
  EXPECT_EQ(normalize_axes({-1, 0}, 3), (Dims{2, 0}));
  EXPECT_EQ(normalize_axes({3}, 3), std::nullopt);
  EXPECT_EQ(normalize_axes({1, -2}, 3), std::nullopt);
}

TEST(ElementWriter, PackedElementsAcrossBytes) {
  const Tensor x = from_int64s(DType::I4, {5}, std::vector<std::int64_t>{1, -2, 3, -4, 5});
  ElementWriter w(DType::I4, {3});
  w.copy(0, x, 3, 2);
  w.copy(2, x, 1);
  EXPECT_THAT(to_int64s(std::move(w).freeze()), ElementsAre(-4, 5, -2));
  const Tensor bits = from_int64s(DType::U2, {3}, std::vector<std::int64_t>{1, 2, 3});
  ElementWriter narrow_writer(DType::U2, {5});
  narrow_writer.copy(2, bits, 0, 3);
  EXPECT_THAT(to_int64s(std::move(narrow_writer).freeze()), ElementsAre(0, 0, 1, 2, 3));
}

TEST(ElementWriter, RefusesWhatIsOutside) {
  const Tensor x = from_int64s(DType::I32, {2}, std::vector<std::int64_t>{1, 2});
  ElementWriter w(DType::I32, {2});
  EXPECT_THROW(w.copy(1, x, 0, 2), InternalError);
  EXPECT_THROW(w.copy(0, x, 1, 2), InternalError);
  ElementWriter other(DType::F32, {2});
  EXPECT_THROW(other.copy(0, x, 0), InternalError);
}

TEST(StridedCopy, PermutesSlicesAndBroadcasts) {
  for (DType t : {DType::U4, DType::I8, DType::F16, DType::F32, DType::I64}) {
    const Tensor x = from_int64s(t, {2, 3}, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
    EXPECT_THAT(to_int64s(strided_copy(x, {3, 2}, {1, 3})), ElementsAre(1, 4, 2, 5, 3, 6)) << name(t);
    EXPECT_THAT(to_int64s(strided_copy(x, {2}, {-4}, 5)), ElementsAre(6, 2)) << name(t);
    EXPECT_THAT(to_int64s(strided_copy(x, {2, 2}, {0, 1})), ElementsAre(1, 2, 1, 2)) << name(t);
    EXPECT_THAT(to_int64s(strided_copy(x, {}, {}, 4)), ElementsAre(5)) << name(t);
    EXPECT_EQ(strided_copy(x, {4, 0}, {9, 9}).count(), 0);
    EXPECT_THROW(strided_copy(x, {3}, {3}), InternalError);
    EXPECT_THROW(strided_copy(x, {2}, {-1}), InternalError);
  }
}

TEST(StridedCopy, SixteenByteElements) {
  MutableTensor m(DType::C128, {2});
  m.bytes()[0] = std::byte{7};
  m.bytes()[31] = std::byte{9};
  const Tensor y = strided_copy(std::move(m).freeze(), {2}, {-1}, 1);
  EXPECT_EQ(y.data.span()[15], std::byte{9});
  EXPECT_EQ(y.data.span()[16], std::byte{7});
}

TEST(IntegerMath, DefinedForEveryOperand) {
  EXPECT_EQ(wrapping_add<std::int64_t>(INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(truncating_div<std::int64_t>(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(truncating_div<std::int64_t>(1, 0), 0);
  EXPECT_EQ(floor_mod<std::int64_t>(-7, 3), 2);
  EXPECT_EQ(floor_mod<std::int64_t>(INT64_MIN, -1), 0);
  EXPECT_EQ(floor_mod<std::uint64_t>(7, 3), 1U);
  EXPECT_EQ((integer_pow<std::int64_t, std::uint64_t>(2, 64)), 0);
  EXPECT_EQ((integer_pow<std::uint64_t, std::int64_t>(2, -1)), 0U);
  EXPECT_EQ(shift_left<std::uint64_t>(1, 64), 0U);
}

TEST(IntegerMath, DoublesToElements) {
  EXPECT_EQ(double_to<std::int8_t>(-1.9), -1);
  EXPECT_EQ(double_to<std::uint8_t>(300.5), 44);
  EXPECT_EQ(double_to<std::uint64_t>(1.8e19), 18000000000000000000U);
  EXPECT_EQ(double_to<std::int64_t>(1e300), INT64_MIN);
  EXPECT_TRUE(double_to<Bool8>(0.25));
}

}  // namespace
}  // namespace atc::ops
