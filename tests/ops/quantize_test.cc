#include "ops/quantize.h"

#include <cmath>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(IntegerRange, EveryWidth) {
  EXPECT_EQ(integer_range(DType::U8), std::pair(0.0, 255.0));
  EXPECT_EQ(integer_range(DType::I4), std::pair(-8.0, 7.0));
  EXPECT_EQ(integer_range(DType::U2), std::pair(0.0, 3.0));
  EXPECT_EQ(round_and_saturate(2.5, DType::I8), 2);
  EXPECT_EQ(round_and_saturate(-300, DType::I8), -128);
  EXPECT_EQ(round_and_saturate(std::nan(""), DType::U8), 0);
}

TEST(QuantizeLinear, InfersTheZeroPointsDtype) {
  EXPECT_EQ(NodeCase("QuantizeLinear", 10).typed(DType::F32, Dims{2, 3}).typed(DType::F32, Dims{}).inferred(),
            "u8[2,3]");
  EXPECT_EQ(NodeCase("QuantizeLinear", 10)
                .typed(DType::F32, Dims{2, 3})
                .typed(DType::F32, Dims{})
                .typed(DType::I8, Dims{})
                .inferred(),
            "i8[2,3]");
  EXPECT_EQ(NodeCase("QuantizeLinear", 21)
                .typed(DType::F16, Dims{2, 3})
                .typed(DType::F16, Dims{})
                .attr("output_dtype", static_cast<int>(DType::I4))
                .inferred(),
            "i4[2,3]");
}

TEST(QuantizeLinear, Refusals) {
  const auto with_scale = [](Dims scale, int axis, int block) {
    NodeCase c("QuantizeLinear", 21);
    return c.typed(DType::F32, Dims{2, 6})
        .typed(DType::F32, scale)
        .attr("axis", axis)
        .attr("block_size", block)
        .inferred();
  };
  EXPECT_THAT(with_scale({5}, 1, 0),
              HasSubstr("the scale has 5 values along axis 1, expected 6 for 6 elements"));
  EXPECT_THAT(with_scale({6}, 2, 0), HasSubstr("attribute axis is 2, outside [-2, 2)"));
  EXPECT_THAT(with_scale({2, 6}, 1, 0), HasSubstr("the scale has rank 2, expected 0 or 1"));
  EXPECT_THAT(with_scale({2, 2}, 1, 2), HasSubstr("expected 3 for 6 elements in blocks of 2"));
  EXPECT_THAT(with_scale({1, 3}, 1, 2), HasSubstr("differs from the data's [2,6] elsewhere than on axis 1"));
  EXPECT_THAT(NodeCase("QuantizeLinear", 10)
                  .typed(DType::F32, Dims{2})
                  .typed(DType::F32, Dims{})
                  .typed(DType::I16, Dims{})
                  .inferred(),
              HasSubstr("found i16"));
  EXPECT_THAT(NodeCase("QuantizeLinear", 13)
                  .typed(DType::F32, Dims{2, 6})
                  .typed(DType::F32, Dims{6})
                  .typed(DType::U8, Dims{5})
                  .inferred(),
              HasSubstr("must have the shape of the scale, [6]"));
}

TEST(QuantizeLinear, RoundsToEvenBeforeTheZeroPoint) {
  const Tensor y = NodeCase("QuantizeLinear", 10)
                       .data(f32({6}, {1, 3, 5, -1, 1000, -1000}))
                       .constant(f32({}, {2}))
                       .constant(tensor_of(DType::U8, {}, {1}))
                       .run_one();
  expect_near(y, {6}, {1, 3, 3, 1, 255, 0}, 0);
}

TEST(QuantizeLinear, PerAxisAndBlocked) {
  const Tensor x = f32({2, 4}, {10, 20, 30, 40, 10, 20, 30, 40});
  const Tensor per_axis =
      NodeCase("QuantizeLinear", 13).data(x).constant(f32({2}, {1, 10})).attr("axis", 0).run_one();
  expect_near(per_axis, {2, 4}, {10, 20, 30, 40, 1, 2, 3, 4}, 0);
  const Tensor blocked = NodeCase("QuantizeLinear", 21)
                             .data(x)
                             .constant(f32({2, 2}, {1, 2, 5, 10}))
                             .constant(tensor_of(DType::I16, {2, 2}, {0, 100, 0, -100}))
                             .attr("block_size", 3)
                             .run_one();
  expect_near(blocked, {2, 4}, {10, 20, 30, 120, 2, 4, 6, -96}, 0);
  const Tensor outer = NodeCase("QuantizeLinear", 21)
                           .data(x)
                           .constant(f32({1, 4}, {1, 2, 5, 10}))
                           .attr("axis", 0)
                           .attr("block_size", 2)
                           .run_one();
  expect_near(outer, {2, 4}, {10, 10, 6, 4, 10, 10, 6, 4}, 0);
}

TEST(QuantizeLinear, Float8Saturates) {
  const auto quantize = [](int saturate) {
    return to_doubles(NodeCase("QuantizeLinear", 19)
                          .data(f32({2}, {1e6, 0.5}))
                          .constant(f32({}, {1}))
                          .constant(tensor_of(DType::F8E4M3FN, {}, {0}))
                          .attr("saturate", saturate)
                          .run_one());
  };
  EXPECT_EQ(quantize(1), (std::vector<double>{448, 0.5}));
  EXPECT_TRUE(std::isnan(quantize(0).at(0)));
}

TEST(DequantizeLinear, InvertsWhatQuantizeLinearKeeps) {
  const Tensor scale = f32({3}, {0.5, 0.25, 2});
  const Tensor zero = tensor_of(DType::I8, {3}, {-3, 0, 7});
  const Tensor q = noise_tensor({2, 3, 2}, 1);
  std::vector<double> codes;
  for (double v : to_doubles(q)) codes.push_back(std::round(v * 50));
  const Tensor x = NodeCase("DequantizeLinear", 13)
                       .data(tensor_of(DType::I8, {2, 3, 2}, codes))
                       .constant(scale)
                       .constant(zero)
                       .run_one();
  EXPECT_EQ(to_doubles(x)[2], codes[2] * 0.25);
  expect_near(NodeCase("QuantizeLinear", 13).data(x).constant(scale).constant(zero).run_one(), {2, 3, 2},
              codes, 0);
}

TEST(DequantizeLinear, OutputDtype) {
  EXPECT_EQ(NodeCase("DequantizeLinear", 21).typed(DType::U4, Dims{4}).typed(DType::F16, Dims{}).inferred(),
            "f16[4]");
  EXPECT_EQ(NodeCase("DequantizeLinear", 23)
                .typed(DType::U4, Dims{4})
                .typed(DType::F16, Dims{})
                .attr("output_dtype", static_cast<int>(DType::F32))
                .inferred(),
            "f32[4]");
  EXPECT_THAT(NodeCase("DequantizeLinear", 13)
                  .typed(DType::U8, Dims{4})
                  .typed(DType::F32, Dims{})
                  .typed(DType::I8, Dims{})
                  .inferred(),
              HasSubstr("must have the dtype of input 0, u8"));
}

TEST(DynamicQuantizeLinear, CoversZero) {
  NodeCase c("DynamicQuantizeLinear", 11, 3);
  const auto out = c.data(f32({3}, {1, 2, 5.1})).run();
  expect_near(out.at(1), {}, {5.1 / 255}, 1e-8);
  expect_near(out.at(2), {}, {0}, 0);
  expect_near(out.at(0), {3}, {50, 100, 255}, 0);
  NodeCase zeros("DynamicQuantizeLinear", 11, 3);
  expect_near(zeros.data(f32({2}, {0, 0})).run().at(0), {2}, {0, 0}, 0);
}

TEST(ConvInteger, PaddingIsTheZeroPoint) {
  const Tensor y = NodeCase("ConvInteger", 10)
                       .data(tensor_of(DType::U8, {1, 1, 3}, {2, 3, 4}))
                       .constant(tensor_of(DType::U8, {1, 1, 2}, {1, 1}))
                       .constant(tensor_of(DType::U8, {}, {1}))
                       .ints("pads", {1, 0})
                       .run_one();
  EXPECT_EQ(y.dtype, DType::I32);
  expect_near(y, {1, 1, 3}, {1, 3, 5}, 0);
}

TEST(ConvInteger, WeightZeroPointPerChannel) {
  const Tensor y = NodeCase("ConvInteger", 10)
                       .data(tensor_of(DType::I8, {1, 1, 2}, {10, 20}))
                       .constant(tensor_of(DType::I8, {2, 1, 1}, {3, 3}))
                       .absent()
                       .constant(tensor_of(DType::I8, {2}, {1, 2}))
                       .run_one();
  expect_near(y, {1, 2, 2}, {20, 40, 10, 20}, 0);
  EXPECT_THAT(
      NodeCase("ConvInteger", 10).typed(DType::F32, Dims{1, 1, 2}).typed(DType::I8, Dims{2, 1, 1}).inferred(),
      HasSubstr("found f32"));
}

TEST(QLinearConv, RequantizesPerChannel) {
  NodeCase c("QLinearConv", 10);
  c.data(tensor_of(DType::U8, {1, 1, 1, 2}, {12, 14}))
      .constant(f32({}, {0.5}))
      .constant(tensor_of(DType::U8, {}, {10}));
  c.constant(tensor_of(DType::I8, {2, 1, 1, 1}, {3, -5})).constant(f32({2}, {0.1, 1}));
  c.constant(tensor_of(DType::I8, {2}, {0, 0}))
      .constant(f32({}, {0.25}))
      .constant(tensor_of(DType::U8, {}, {100}));
  c.constant(tensor_of(DType::I32, {2}, {4, 0}));
  // (2 * 3 + 4) * 0.05 / 0.25 = 2, (4 * 3 + 4) * 0.2 = 3.2; -10 * 0.5 / 0.25 = -20, -20 * 2 = -40
  expect_near(c.run_one(), {1, 2, 1, 2}, {102, 103, 80, 60}, 0);
}

TEST(MatMulInteger, ZeroPointsOfRowsAndColumns) {
  const Tensor y = NodeCase("MatMulInteger", 10)
                       .data(tensor_of(DType::U8, {2, 2}, {5, 6, 7, 8}))
                       .data(tensor_of(DType::I8, {2, 2}, {1, 2, 3, 4}))
                       .constant(tensor_of(DType::U8, {2}, {5, 7}))
                       .constant(tensor_of(DType::I8, {2}, {0, 1}))
                       .run_one();
  // rows [0,1], [0,1]; columns [1,3], [1,3]
  expect_near(y, {2, 2}, {3, 3, 3, 3}, 0);
  EXPECT_THAT(NodeCase("MatMulInteger", 10)
                  .typed(DType::U8, Dims{2, 2})
                  .typed(DType::I8, Dims{2, 2})
                  .typed(DType::U8, Dims{3})
                  .inferred(),
              HasSubstr("expected one value, or one for each row"));
}

TEST(QLinearMatMul, ScalesAndSaturates) {
  NodeCase c("QLinearMatMul", 10);
  c.data(tensor_of(DType::U8, {1, 2}, {130, 128}))
      .constant(f32({}, {0.5}))
      .constant(tensor_of(DType::U8, {}, {128}));
  c.constant(tensor_of(DType::U8, {2, 2}, {10, 255, 20, 0})).constant(f32({2}, {1, 10}));
  c.constant(tensor_of(DType::U8, {2}, {0, 0}))
      .constant(f32({}, {2}))
      .constant(tensor_of(DType::U8, {}, {3}));
  expect_near(c.run_one(), {1, 2}, {8, 255}, 0);  // 1 * 10 / 2 + 3; 1 * 2550 / 2 + 3
}

}  // namespace
}  // namespace atc::ops
