#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(MaxUnpool, UndoesMaxPool) {
  NodeCase pool("MaxPool", 12, 2);
  const auto pooled = pool.data(f32({1, 2, 4}, {1, 5, 2, 3, 7, 6, 0, 8}))
                          .ints("kernel_shape", {2})
                          .ints("strides", {2})
                          .run();
  const Tensor y = NodeCase("MaxUnpool", 11)
                       .data(pooled.at(0))
                       .data(pooled.at(1))
                       .ints("kernel_shape", {2})
                       .ints("strides", {2})
                       .run_one();
  expect_near(y, {1, 2, 4}, {0, 5, 0, 3, 7, 0, 0, 8});
}

TEST(MaxUnpool, OutputShapeExtendsWhatTheIndicesCount) {
  const Tensor y = NodeCase("MaxUnpool", 11)
                       .data(f32({1, 1, 1, 1}, {9}))
                       .data(i64({1, 1, 1, 1}, {3}))
                       .constant(i64({4}, {1, 1, 3, 3}))
                       .ints("kernel_shape", {2, 2})
                       .ints("strides", {2, 2})
                       .run_one();
  expect_near(y, {1, 1, 3, 3}, {0, 0, 0, 0, 9, 0, 0, 0, 0});
}

TEST(MaxUnpool, InfersAndRefuses) {
  NodeCase c("MaxUnpool", 11);
  c.typed(DType::F32, Dims{1, 3, 5, 5}).typed(DType::I64, Dims{1, 3, 5, 5});
  EXPECT_EQ(c.ints("kernel_shape", {3, 3}).ints("strides", {2, 2}).ints("pads", {1, 1, 0, 0}).inferred(),
            "f32[1,3,10,10]");
  EXPECT_THAT(NodeCase("MaxUnpool", 11)
                  .typed(DType::F32, Dims{1, 3, 5})
                  .typed(DType::I64, Dims{1, 3, 4})
                  .ints("kernel_shape", {2})
                  .inferred(),
              HasSubstr("must have the shape of the data, [1,3,5]"));
  EXPECT_THAT(NodeCase("MaxUnpool", 11)
                  .typed(DType::F32, Dims{1, 3, 5})
                  .typed(DType::I64, Dims{1, 3, 5})
                  .ints("kernel_shape", {2, 2})
                  .inferred(),
              HasSubstr("do not fit 1 spatial axes"));
}

}  // namespace
}  // namespace atc::ops
