#include "atc/ir/type.h"

#include <gtest/gtest.h>

namespace atc::ir {
namespace {

TEST(Type, StorageDims) {
  EXPECT_EQ(storage_dims(Format::ND, DType::F16, {2, 3}), (Dims{2, 3}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0, DType::F16, {2, 17, 9}), (Dims{2, 2, 9, 16}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0, DType::F32, {1, 3, 224, 225}), (Dims{1, 1, 224, 225, 16}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0, DType::I8, {1, 33, 4, 5, 6}), (Dims{1, 2, 4, 5, 6, 32}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0, DType::F16, {0, 0, 4}), (Dims{0, 0, 4, 16}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_NZ, DType::F16, {5, 33, 17}), (Dims{5, 2, 3, 16, 16}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_NZ, DType::U8, {33, 33}), (Dims{2, 3, 16, 32}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_Z, DType::F16, {64, 3, 7, 7}), (Dims{49, 4, 16, 16}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0_C04, DType::F16, {2, 3, 9, 8}), (Dims{2, 1, 9, 8, 4}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0_C04, DType::I8, {1, 4, 9}), (Dims{1, 1, 9, 4}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_Z_C04, DType::F16, {64, 3, 7, 7}), (Dims{13, 4, 16, 16}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_Z_C04, DType::I8, {20, 3, 2, 3, 3}), (Dims{4, 2, 16, 32}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_Z_C04, DType::F32, {5, 1, 9}), (Dims{3, 1, 16, 16}));
  EXPECT_THROW(storage_dims(Format::NC1HWC0, DType::F16, {1, 2}), InternalError);
  EXPECT_THROW(storage_dims(Format::NC1HWC0_C04, DType::F16, {1, 2}), InternalError);
  EXPECT_THROW(storage_dims(Format::FRACTAL_NZ, DType::F16, {1}), InternalError);
}

TEST(Type, C0) {
  EXPECT_EQ(c0_of(DType::I8), 32);
  EXPECT_EQ(c0_of(DType::U8), 32);
  for (DType t : {DType::F16, DType::BF16, DType::F32, DType::I32, DType::I64}) EXPECT_EQ(c0_of(t), 16);
}

TEST(Type, FormatNames) {
  for (Format f : {Format::ND, Format::NC1HWC0, Format::FRACTAL_Z, Format::FRACTAL_NZ, Format::NC1HWC0_C04,
                   Format::FRACTAL_Z_C04})
    EXPECT_EQ(format_from_name(name(f)), f);
  EXPECT_EQ(format_from_name("NCHW4"), std::nullopt);
}

TEST(Type, Spelling) {
  TensorType t{DType::F32, Shape{Dim::of(1), Dim::of(3), Dim::named("h"), Dim::named("w")}, Format::NC1HWC0};
  EXPECT_EQ(to_string(t), "f32[1,3,h,w] NC1HWC0");
  EXPECT_FALSE(t.is_static());
  EXPECT_EQ(to_string(TensorType{DType::F32, {}, Format::ND}), "f32[*]");
  EXPECT_EQ(to_string(tensor_type(DType::I64, {})), "i64[]");
  EXPECT_TRUE(tensor_type(DType::I64, {0}).is_static());
  EXPECT_THROW(to_dims(*t.shape), InternalError);
}

}  // namespace
}  // namespace atc::ir
