#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

Tensor sample_row(std::vector<double> x, std::vector<double> at, const char* mode, const char* padding,
                  int align) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto points = static_cast<std::int64_t>(at.size());
  return NodeCase("GridSample", 20)
      .data(f32({1, 1, n}, std::move(x)))
      .data(f32({1, points, 1}, std::move(at)))
      .attr("mode", mode)
      .attr("padding_mode", padding)
      .attr("align_corners", align)
      .run_one();
}

TEST(GridSample, InfersAndRefuses) {
  const auto grid = [](int version, Dims x, Dims g, const char* mode) {
    return NodeCase("GridSample", version)
        .typed(DType::F32, x)
        .typed(DType::F32, g)
        .attr("mode", mode)
        .inferred();
  };
  EXPECT_EQ(grid(16, {2, 3, 4, 5}, {2, 7, 8, 2}, "bilinear"), "f32[2,3,7,8]");
  EXPECT_EQ(grid(20, {2, 3, 4, 5, 6}, {2, 7, 8, 9, 3}, "linear"), "f32[2,3,7,8,9]");
  EXPECT_THAT(grid(20, {2, 3, 4, 5}, {2, 7, 8, 2}, "bilinear"),
              HasSubstr("expected nearest, linear or cubic"));
  EXPECT_THAT(grid(16, {2, 3, 4, 5, 6}, {2, 7, 8, 9, 3}, "bilinear"), HasSubstr("has rank 5, expected 4"));
  EXPECT_THAT(grid(20, {2, 3, 4, 5}, {2, 7, 8, 3}, "linear"),
              HasSubstr("must have 2 coordinates on its last axis"));
  EXPECT_THAT(grid(20, {2, 3, 4, 5}, {1, 7, 8, 2}, "linear"), HasSubstr("must have the data's batch, 2"));
}

TEST(GridSample, CornersAlignedOrNot) {
  expect_near(sample_row({10, 20, 30}, {-1, -0.5, 0, 1}, "linear", "zeros", 1), {1, 1, 4}, {10, 15, 20, 30});
  // Not aligned: -1 is the outer edge of the first pixel, half of which is outside.
  expect_near(sample_row({10, 20, 30}, {-1, 0, 1}, "linear", "zeros", 0), {1, 1, 3}, {5, 20, 15});
}

TEST(GridSample, PaddingModes) {
  const std::vector<double> far = {-3, 3};  // at -2 and 4 of 0, 1, 2
  expect_near(sample_row({10, 20, 30}, far, "linear", "zeros", 1), {1, 1, 2}, {0, 0});
  expect_near(sample_row({10, 20, 30}, far, "linear", "border", 1), {1, 1, 2}, {10, 30});
  expect_near(sample_row({10, 20, 30}, {-2, 3}, "linear", "reflection", 1), {1, 1, 2}, {20, 10});
  // Reflection about the outer edges: -1.5 and 3.5 of -0.5 ... 2.5.
  expect_near(sample_row({10, 20, 30}, {-5.0 / 3, 5.0 / 3}, "linear", "reflection", 0), {1, 1, 2}, {15, 25},
              1e-4);
}

TEST(GridSample, NearestAndCubic) {
  expect_near(sample_row({10, 20, 30}, {-0.9, 0.1, 0.6}, "nearest", "zeros", 1), {1, 1, 3}, {10, 20, 30});
  // At whole coordinates a cubic kernel returns the element.
  expect_near(sample_row({1, 5, 2, 8}, {-1, -1.0 / 3, 1.0 / 3, 1}, "cubic", "zeros", 1), {1, 1, 4},
              {1, 5, 2, 8}, 1e-4);
}

TEST(GridSample, TheFirstCoordinateIsX) {
  const Tensor y = NodeCase("GridSample", 16)
                       .data(f32({1, 1, 2, 3}, {0, 1, 2, 10, 11, 12}))
                       .data(f32({1, 1, 1, 2}, {1, -1}))
                       .attr("align_corners", 1)
                       .run_one();
  expect_near(y, {1, 1, 1, 1}, {2});
}

TEST(AffineGrid, IdentityIsTheBaseGrid) {
  const auto grid = [](int align) {
    return NodeCase("AffineGrid", 20)
        .data(f32({1, 2, 3}, {1, 0, 0, 0, 1, 0.5}))
        .constant(i64({4}, {1, 1, 1, 2}))
        .attr("align_corners", align)
        .run_one();
  };
  expect_near(grid(0), {1, 1, 2, 2}, {-0.5, 0.5, 0.5, 0.5});
  expect_near(grid(1), {1, 1, 2, 2}, {-1, 0.5, 1, 0.5});
  EXPECT_THAT(
      NodeCase("AffineGrid", 20).typed(DType::F32, Dims{1, 2, 3}).constant(i64({3}, {1, 1, 2})).inferred(),
      HasSubstr("has 3 elements, expected 4 or 5"));
}

TEST(AffineGrid, SamplesBackWhatItDescribes) {
  // Grid and sampler agree on the meaning of coordinates: the identity returns the image, a mirror flips it.
  const Tensor x = noise_tensor({1, 2, 3, 4}, 1);
  for (int align : {0, 1}) {
    const Tensor grid = NodeCase("AffineGrid", 20)
                            .data(f32({1, 2, 3}, {-1, 0, 0, 0, 1, 0}))
                            .constant(i64({4}, {1, 2, 3, 4}))
                            .attr("align_corners", align)
                            .run_one();
    std::vector<double> mirrored;
    const auto v = to_doubles(x);
    for (std::size_t row = 0; row < 6; ++row)
      for (std::size_t j = 0; j < 4; ++j) mirrored.push_back(v[row * 4 + 3 - j]);
    expect_near(NodeCase("GridSample", 20).data(x).data(grid).attr("align_corners", align).run_one(),
                {1, 2, 3, 4}, mirrored, 1e-4);
  }
}

TEST(DeformConv, WithoutOffsetsItIsConv) {
  const Tensor x = noise_tensor({2, 4, 5, 6}, 2);
  const Tensor w = noise_tensor({4, 2, 3, 3}, 3);
  const auto set = [](NodeCase& c) -> NodeCase& { return c.attr("group", 2).ints("pads", {1, 1, 1, 1}); };
  NodeCase conv("Conv", 19);
  const Tensor expected = set(conv.data(x).constant(w)).run_one();
  NodeCase deform("DeformConv", 19);
  deform.data(x).constant(w).data(MutableTensor(DType::F32, {2, 36, 5, 6}).freeze());
  const Tensor y = set(deform).attr("offset_group", 2).run_one();
  expect_near(y, expected.shape, to_doubles(expected));
}

TEST(DeformConv, OffsetsAndMask) {
  // One pixel tap, moved by half a pixel down and one to the right, halved by the mask.
  NodeCase c("DeformConv", 19);
  c.data(f32({1, 1, 2, 3}, {0, 1, 2, 10, 11, 12})).constant(f32({1, 1, 1, 1}, {2}));
  c.data(f32({1, 2, 2, 3}, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1, 1})).constant(f32({1}, {100}));
  c.constant(f32({1, 1, 2, 3}, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
  expect_near(c.run_one(), {1, 1, 2, 3}, {106, 107, 100, 105.5, 106, 100});
  EXPECT_THAT(NodeCase("DeformConv", 19)
                  .typed(DType::F32, Dims{1, 1, 4, 4})
                  .typed(DType::F32, Dims{1, 1, 2, 2})
                  .typed(DType::F32, Dims{1, 4, 3, 3})
                  .inferred(),
              HasSubstr("must have shape [1,8,3,3]"));
}

}  // namespace
}  // namespace atc::ops
