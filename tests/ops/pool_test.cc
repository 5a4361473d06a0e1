#include <cmath>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(MaxPool, InfersShapeAndIndices) {
  NodeCase c("MaxPool", 12, 2);
  c.typed(DType::F32, Dims{1, 3, 32, 32}).ints("kernel_shape", {3, 3}).ints("strides", {2, 2});
  EXPECT_EQ(c.inferred(0), "f32[1,3,15,15]");
  EXPECT_EQ(c.inferred(1), "i64[1,3,15,15]");
}

TEST(MaxPool, Refusals) {
  EXPECT_THAT(NodeCase("MaxPool", 12).typed(DType::F32, Dims{1, 3, 8, 8}).inferred(),
              HasSubstr("required attribute kernel_shape is missing"));
  EXPECT_THAT(
      NodeCase("MaxPool", 12).typed(DType::F32, Dims{1, 3, 8, 8}).ints("kernel_shape", {3}).inferred(),
      HasSubstr("attribute kernel_shape has 1 values [3], expected 2"));
  EXPECT_THAT(NodeCase("MaxPool", 12).typed(DType::F32, Dims{1, 3}).ints("kernel_shape", {3}).inferred(),
              HasSubstr("has rank 2, expected at least 3"));
  EXPECT_THAT(NodeCase("MaxPool", 9)
                  .typed(DType::F32, Dims{1, 3, 8})
                  .ints("kernel_shape", {3})
                  .attr("ceil_mode", 1)
                  .inferred(),
              HasSubstr("attribute ceil_mode does not exist in opset 9"));
}

TEST(MaxPool, IndicesCountTheWholeTensor) {
  NodeCase c("MaxPool", 12, 2);
  c.data(f32({1, 2, 2, 2}, {1, 9, 3, 4, -1, -2, -8, -1})).ints("kernel_shape", {2, 2});
  const auto out = c.run();
  expect_near(out.at(0), {1, 2, 1, 1}, {9, -1});
  EXPECT_EQ(to_int64s(out.at(1)), (std::vector<std::int64_t>{1, 4}));  // the first of two equal ones
}

TEST(MaxPool, ColumnMajorIndices) {
  NodeCase c("MaxPool", 12, 2);
  c.data(f32({1, 1, 2, 3}, {0, 0, 7, 0, 0, 0})).ints("kernel_shape", {2, 3}).attr("storage_order", 1);
  EXPECT_EQ(to_int64s(c.run().at(1)), std::vector<std::int64_t>{4});  // row 0, column 2 of 2x3
}

TEST(MaxPool, PaddingNeverWins) {
  const auto y = NodeCase("MaxPool", 12)
                     .data(f32({1, 1, 2}, {-5, -7}))
                     .ints("kernel_shape", {3})
                     .ints("pads", {1, 1})
                     .run_one();
  expect_near(y, {1, 1, 2}, {-5, -5});
}

TEST(MaxPool, NanPropagates) {
  const auto y =
      NodeCase("MaxPool", 12).data(f32({1, 1, 3}, {1, std::nan(""), 2})).ints("kernel_shape", {3}).run_one();
  EXPECT_TRUE(std::isnan(to_doubles(y).at(0)));
}

TEST(MaxPool, DilationsAndCeil) {
  const auto y = NodeCase("MaxPool", 12)
                     .data(f32({1, 1, 6}, {1, 2, 3, 4, 5, 6}))
                     .ints("kernel_shape", {2})
                     .ints("dilations", {2})
                     .ints("strides", {2})
                     .attr("ceil_mode", 1)
                     .run_one();
  expect_near(y, {1, 1, 3}, {3, 5, 5});
}

TEST(MaxPool, Bytes) {
  const auto y = NodeCase("MaxPool", 12)
                     .data(tensor_of(DType::U8, {1, 1, 3}, {200, 3, 255}))
                     .ints("kernel_shape", {2})
                     .run_one();
  EXPECT_EQ(y.dtype, DType::U8);
  expect_near(y, {1, 1, 2}, {200, 255}, 0);
}

TEST(AveragePool, PaddingCountsOnlyWhenAsked) {
  const auto average = [](int include) {
    return NodeCase("AveragePool", 11)
        .data(f32({1, 1, 3}, {3, 6, 9}))
        .ints("kernel_shape", {3})
        .ints("pads", {1, 1})
        .attr("count_include_pad", include)
        .run_one();
  };
  expect_near(average(0), {1, 1, 3}, {4.5, 6, 7.5});
  expect_near(average(1), {1, 1, 3}, {3, 6, 5});
}

TEST(AveragePool, CeilCountsPaddingButNotBeyondIt) {
  const auto y = NodeCase("AveragePool", 19)
                     .data(f32({1, 1, 4}, {2, 4, 6, 8}))
                     .ints("kernel_shape", {3})
                     .ints("strides", {2})
                     .ints("pads", {0, 0})
                     .attr("ceil_mode", 1)
                     .attr("count_include_pad", 1)
                     .run_one();
  expect_near(y, {1, 1, 2}, {4, 7});
}

TEST(AveragePool, SameLower) {
  const auto y = NodeCase("AveragePool", 11)
                     .data(f32({1, 1, 3}, {1, 2, 3}))
                     .ints("kernel_shape", {2})
                     .attr("auto_pad", "SAME_LOWER")
                     .run_one();
  expect_near(y, {1, 1, 3}, {1, 1.5, 2.5});
}

TEST(LpPool, OrderIsAFloatInVersion1) {
  const auto x = f32({1, 1, 2}, {3, -4});
  expect_near(NodeCase("LpPool", 11).data(x).ints("kernel_shape", {2}).run_one(), {1, 1, 1}, {5});
  expect_near(NodeCase("LpPool", 11).data(x).ints("kernel_shape", {2}).attr("p", 1).run_one(), {1, 1, 1},
              {7});
  expect_near(
      NodeCase("LpPool", 1).data(x).ints("kernel_shape", {2}).attr("p", ir::Attribute(3.0F)).run_one(),
      {1, 1, 1}, {std::cbrt(27.0 + 64.0)});
  EXPECT_THAT(NodeCase("LpPool", 11).data(x).ints("kernel_shape", {2}).attr("p", 0).inferred(),
              HasSubstr("attribute p must be > 0"));
  EXPECT_THAT(NodeCase("LpPool", 1).data(x).ints("kernel_shape", {2}).attr("p", 2).inferred(),
              HasSubstr("attribute p must be a float"));
}

TEST(GlobalPool, ReducesEveryPlane) {
  const auto x = f32({1, 2, 2, 2}, {1, 2, 3, 4, -4, -3, 0, -1});
  expect_near(NodeCase("GlobalAveragePool", 1).data(x).run_one(), {1, 2, 1, 1}, {2.5, -2});
  expect_near(NodeCase("GlobalMaxPool", 1).data(x).run_one(), {1, 2, 1, 1}, {4, 0});
  expect_near(NodeCase("GlobalLpPool", 2).data(x).attr("p", 1).run_one(), {1, 2, 1, 1}, {10, 8});
  EXPECT_EQ(NodeCase("GlobalAveragePool", 1)
                .typed(DType::F16, ir::Shape{ir::Dim::named("n"), ir::Dim::of(8), ir::Dim::named("h")})
                .inferred(),
            "f16[n,8,1]");
  EXPECT_THAT(NodeCase("GlobalMaxPool", 1).typed(DType::F32, Dims{3}).inferred(),
              HasSubstr("has rank 1, expected at least 2"));
}

}  // namespace
}  // namespace atc::ops
