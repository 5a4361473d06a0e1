#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

struct Setup {
  Dims image, block, dilations, pads, strides;
};

/// im2col the other way round: each pixel collects every column that was cut from it.
std::vector<double> collect(const std::vector<double>& columns, std::int64_t planes, const Setup& s) {
  const std::int64_t rows =
      (s.image[0] + s.pads[0] + s.pads[2] - s.dilations[0] * (s.block[0] - 1) - 1) / s.strides[0] + 1;
  const std::int64_t across =
      (s.image[1] + s.pads[1] + s.pads[3] - s.dilations[1] * (s.block[1] - 1) - 1) / s.strides[1] + 1;
  std::vector<double> y;
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t h = 0; h < s.image[0]; ++h)
      for (std::int64_t w = 0; w < s.image[1]; ++w) {
        double sum = 0;
        for (std::int64_t i = 0; i < s.block[0]; ++i)
          for (std::int64_t j = 0; j < s.block[1]; ++j) {
            const std::int64_t top = h + s.pads[0] - i * s.dilations[0];
            const std::int64_t left = w + s.pads[1] - j * s.dilations[1];
            if (top < 0 || left < 0 || top % s.strides[0] != 0 || left % s.strides[1] != 0) continue;
            const std::int64_t r = top / s.strides[0];
            const std::int64_t c = left / s.strides[1];
            if (r >= rows || c >= across) continue;
            sum += columns[static_cast<std::size_t>(
                ((plane * s.block[0] + i) * s.block[1] + j) * rows * across + r * across + c)];
          }
        y.push_back(sum);
      }
  return y;
}

void check(const Setup& s, std::int64_t positions) {
  const std::int64_t taps = s.block[0] * s.block[1];
  const Tensor x = noise_tensor({2, 3 * taps, positions}, 4);
  NodeCase c("Col2Im", 18);
  c.data(x).constant(i64({2}, s.image)).constant(i64({2}, s.block));
  c.ints("dilations", s.dilations).ints("pads", s.pads).ints("strides", s.strides);
  expect_near(c.run_one(), {2, 3, s.image[0], s.image[1]}, collect(to_doubles(x), 6, s));
}

TEST(Col2Im, AddsOverlappingBlocks) {
  check({{5, 5}, {1, 5}, {1, 1}, {0, 0, 0, 0}, {1, 1}}, 5);
  check({{4, 6}, {3, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1}}, 10);
  check({{4, 6}, {3, 2}, {1, 1}, {1, 0, 1, 1}, {1, 2}}, 12);
  check({{6, 5}, {2, 2}, {2, 3}, {0, 1, 0, 1}, {2, 1}}, 8);
}

TEST(Col2Im, OneAxis) {
  NodeCase c("Col2Im", 18);
  c.data(f32({1, 2, 3}, {1, 2, 3, 4, 5, 6})).constant(i64({1}, {4})).constant(i64({1}, {2}));
  expect_near(c.run_one(), {1, 1, 4}, {1, 2 + 4, 3 + 5, 6});
}

TEST(Col2Im, InfersAndRefuses) {
  const auto infer = [](Dims x, std::vector<std::int64_t> block) {
    NodeCase c("Col2Im", 18);
    return c.typed(DType::F32, x).constant(i64({2}, {5, 5})).constant(i64({2}, std::move(block))).inferred();
  };
  EXPECT_EQ(infer({1, 10, 5}, {1, 5}), "f32[1,2,5,5]");
  EXPECT_THAT(infer({1, 9, 5}, {1, 5}), HasSubstr("has 9 rows, not a multiple of the block's 5"));
  EXPECT_THAT(infer({1, 10, 6}, {1, 5}), HasSubstr("has 6 columns, expected 5 positions"));
  EXPECT_THAT(infer({1, 10, 5}, {1, 6}), HasSubstr("does not fit an image of [5,5]"));
  NodeCase open("Col2Im", 18);
  EXPECT_EQ(
      open.typed(DType::F32, Dims{1, 10, 5}).typed(DType::I64, Dims{2}).typed(DType::I64, Dims{2}).inferred(),
      "f32[1,?0,?1,?2]");
  EXPECT_THAT(NodeCase("Col2Im", 18)
                  .typed(DType::F32, Dims{1, 10, 5})
                  .constant(i64({2}, {5, 5}))
                  .constant(i64({2}, {1, 5}))
                  .ints("strides", {0, 1})
                  .inferred(),
              HasSubstr("do not fit 2 spatial axes"));
}

}  // namespace
}  // namespace atc::ops
