#include <cmath>

#include "ops/node_case.h"
#include "ops/resize_geometry.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

// Geometry ------------------------------------------------------------------------------------------

ResizeAxis sized(std::int64_t in, std::int64_t out) {
  ResizeAxis axis;
  axis.input = in;
  axis.output = out;
  axis.input_step = static_cast<double>(in);
  axis.output_step = axis.resized_length = static_cast<double>(out);
  return axis;
}

std::vector<std::int32_t> nearest_indices(std::int64_t in, std::int64_t out, CoordinateTransform transform,
                                          NearestMode nearest) {
  ResizeOptions options;
  options.transform = transform;
  options.nearest = nearest;
  return axis_taps(sized(in, out), options).index;
}

TEST(AxisTaps, NearestModesRoundHalvesAsNamed) {
  using enum CoordinateTransform;
  // 4 to 2, half pixel: 0.5 and 2.5.
  EXPECT_EQ(nearest_indices(4, 2, HalfPixel, NearestMode::RoundPreferFloor),
            (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(nearest_indices(4, 2, HalfPixel, NearestMode::RoundPreferCeil),
            (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(nearest_indices(4, 2, HalfPixel, NearestMode::Floor), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(nearest_indices(4, 2, HalfPixel, NearestMode::Ceil), (std::vector<std::int32_t>{1, 3}));
  // 2 to 5, asymmetric: 0, 0.4, 0.8, 1.2, 1.6.
  EXPECT_EQ(nearest_indices(2, 5, Asymmetric, NearestMode::Floor),
            (std::vector<std::int32_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(nearest_indices(2, 5, Asymmetric, NearestMode::RoundPreferFloor),
            (std::vector<std::int32_t>{0, 0, 1, 1, 1}));
  // 3 to 5, corners aligned: 0, 0.5, 1, 1.5, 2.
  EXPECT_EQ(nearest_indices(3, 5, AlignCorners, NearestMode::RoundPreferFloor),
            (std::vector<std::int32_t>{0, 0, 1, 1, 2}));
}

TEST(AxisTaps, CoordinatesThatAreWholeStayWhole) {
  // Every third output of 3k from k inputs starts a new input, whatever k: no 0.999... is floored away.
  for (std::int64_t in = 1; in < 200; ++in) {
    const auto index = nearest_indices(in, 3 * in, CoordinateTransform::Asymmetric, NearestMode::Floor);
    for (std::size_t o = 0; o < index.size(); ++o)
      ASSERT_EQ(index[o], static_cast<std::int32_t>(o / 3)) << in;
  }
}

TEST(AxisTaps, ScalesDivideInFloatAsTheyAreGiven) {
  // Scales come as floats: 3 / 0.6 is no more 5 nor 11.5 / 2.3 - 0.5 a half when they are divided in double.
  const auto by_scale = [](std::int64_t in, std::int64_t out, float scale, CoordinateTransform transform,
                           NearestMode nearest) {
    ResizeAxis axis;
    axis.input = in;
    axis.output = out;
    axis.output_step = scale;
    axis.resized_length = static_cast<double>(in) * static_cast<double>(scale);
    ResizeOptions options;
    options.transform = transform;
    options.nearest = nearest;
    return axis_taps(axis, options).index;
  };
  using enum CoordinateTransform;
  EXPECT_EQ(by_scale(7, 4, 0.6F, Asymmetric, NearestMode::Floor), (std::vector<std::int32_t>{0, 1, 3, 5}));
  for (const auto& [mode, expected] : {std::pair(NearestMode::RoundPreferFloor, 4),  // of 4.5
                                       std::pair(NearestMode::RoundPreferCeil, 5)})
    EXPECT_EQ(by_scale(7, 16, 2.3F, HalfPixel, mode)[11], expected);
}

TEST(AxisTaps, WeightsAreAPartitionOfOne) {
  for (const ResizeMode mode : {ResizeMode::Linear, ResizeMode::Cubic})
    for (const bool antialias : {false, true})
      for (const auto& [in, out] : {std::pair(7, 3), std::pair(5, 13), std::pair(16, 1), std::pair(4, 4)}) {
        ResizeOptions options;
        options.mode = mode;
        options.antialias = antialias;
        const AxisTaps table = axis_taps(sized(in, out), options);
        ASSERT_EQ(table.index.size(), static_cast<std::size_t>(out * table.taps));
        for (std::int64_t o = 0; o < out; ++o) {
          double sum = 0;
          for (int t = 0; t < table.taps; ++t)
            sum += table.weight[static_cast<std::size_t>(o * table.taps + t)];
          EXPECT_NEAR(sum, 1, 1e-6);
        }
      }
}

TEST(AxisTaps, LinearReproducesALine) {
  // Away from the edges a linear kernel returns the coordinate itself.
  ResizeOptions options;
  options.mode = ResizeMode::Linear;
  const AxisTaps table = axis_taps(sized(10, 23), options);
  for (std::int64_t o = 2; o < 21; ++o) {
    double x = 0;
    for (int t = 0; t < table.taps; ++t) {
      const auto k = static_cast<std::size_t>(o * table.taps + t);
      x += static_cast<double>(table.weight[k]) * table.index[k];
    }
    EXPECT_NEAR(x, (static_cast<double>(o) + 0.5) * 10 / 23 - 0.5, 1e-5);
  }
}

// Inference -----------------------------------------------------------------------------------------

TEST(Resize, InfersFromScalesAndSizes) {
  EXPECT_EQ(NodeCase("Resize", 10)
                .typed(DType::F32, Dims{1, 3, 5, 5})
                .constant(f32({4}, {1, 1, 0.6, 2}))
                .inferred(),
            "f32[1,3,3,10]");
  EXPECT_EQ(NodeCase("Resize", 13)
                .typed(DType::F32,
                       ir::Shape{ir::Dim::named("n"), ir::Dim::of(3), ir::Dim::named("h"), ir::Dim::of(4)})
                .absent()
                .constant(f32({4}, {1, 1, 2, 2}))
                .inferred(),
            "f32[n,3,?0,8]");
  EXPECT_EQ(NodeCase("Resize", 11)
                .typed(DType::F32, Dims{1, 3, 5, 5})
                .constant(f32({0}, {}))
                .constant(f32({0}, {}))
                .constant(i64({4}, {1, 3, 7, 9}))
                .inferred(),
            "f32[1,3,7,9]");
  EXPECT_EQ(
      NodeCase("Resize", 13).typed(DType::F32, Dims{1, 3}).absent().typed(DType::F32, Dims{2}).inferred(),
      "f32[?0,?1]");
}

TEST(Resize, AxesAndAspectRatio) {
  const auto fit = [](const char* policy) {
    return NodeCase("Resize", 18)
        .typed(DType::F32, Dims{1, 3, 6, 9})
        .absent()
        .absent()
        .constant(i64({2}, {4, 12}))
        .ints("axes", {3, 2})
        .attr("keep_aspect_ratio_policy", policy)
        .inferred();
  };
  // Axis 3 asks for 4 / 9, axis 2 for 12 / 6.
  EXPECT_EQ(fit("stretch"), "f32[1,3,12,4]");
  EXPECT_EQ(fit("not_larger"), "f32[1,3,3,4]");
  EXPECT_EQ(fit("not_smaller"), "f32[1,3,12,18]");
  EXPECT_THAT(fit("wider"), HasSubstr("expected stretch, not_larger or not_smaller"));
}

TEST(Resize, Refusals) {
  const auto scales = [](std::vector<double> values) {
    const auto n = static_cast<std::int64_t>(values.size());
    return NodeCase("Resize", 13)
        .typed(DType::F32, Dims{1, 3, 5, 5})
        .absent()
        .constant(f32({n}, std::move(values)))
        .inferred();
  };
  EXPECT_THAT(scales({1, 2}), HasSubstr("scales has 2 values, expected 4"));
  EXPECT_THAT(scales({1, 1, 0, 2}), HasSubstr("every one must be > 0"));
  EXPECT_THAT(NodeCase("Resize", 13).typed(DType::F32, Dims{1, 3}).inferred(),
              HasSubstr("has neither scales nor sizes"));
  EXPECT_THAT(NodeCase("Resize", 13)
                  .typed(DType::F32, Dims{2})
                  .absent()
                  .constant(f32({1}, {2}))
                  .constant(i64({1}, {4}))
                  .inferred(),
              HasSubstr("has both scales and sizes"));
  EXPECT_THAT(NodeCase("Resize", 13)
                  .typed(DType::F32, Dims{2})
                  .absent()
                  .constant(f32({1}, {2}))
                  .attr("mode", "bilinear")
                  .inferred(),
              HasSubstr("attribute mode is \"bilinear\", expected one of nearest, linear, cubic"));
  EXPECT_THAT(NodeCase("Resize", 13)
                  .typed(DType::F32, Dims{2})
                  .absent()
                  .constant(f32({1}, {2}))
                  .attr("coordinate_transformation_mode", "tf_crop_and_resize")
                  .inferred(),
              HasSubstr("has no roi, which tf_crop_and_resize needs"));
}

// Reference -----------------------------------------------------------------------------------------

Tensor resize_1d(std::vector<double> x, std::vector<double> scales, const char* mode, const char* transform) {
  const auto n = static_cast<std::int64_t>(x.size());
  return NodeCase("Resize", 19)
      .data(f32({n}, std::move(x)))
      .absent()
      .constant(f32({1}, std::move(scales)))
      .attr("mode", mode)
      .attr("coordinate_transformation_mode", transform)
      .run_one();
}

TEST(Resize, LinearTransforms) {
  expect_near(resize_1d({1, 3}, {2}, "linear", "half_pixel"), {4}, {1, 1.5, 2.5, 3});
  expect_near(resize_1d({1, 3}, {2}, "linear", "asymmetric"), {4}, {1, 2, 3, 3});
  expect_near(resize_1d({1, 4}, {2}, "linear", "align_corners"), {4}, {1, 2, 3, 4});
  expect_near(resize_1d({1, 3}, {0.5}, "linear", "pytorch_half_pixel"), {1}, {1});
  expect_near(resize_1d({1, 3}, {0.5}, "linear", "half_pixel"), {1}, {2});
}

TEST(Resize, CubicReproducesAParabolaForKeys) {
  // With a = -0.5 (Keys) the kernel reproduces polynomials of degree 2 away from the edges.
  std::vector<double> x;
  for (int i = 0; i < 12; ++i) x.push_back(i * i);
  const Tensor y = NodeCase("Resize", 13)
                       .data(f32({12}, x))
                       .absent()
                       .constant(f32({1}, {2}))
                       .attr("mode", "cubic")
                       .attr("cubic_coeff_a", ir::Attribute(-0.5F))
                       .run_one();
  const auto v = to_doubles(y);
  for (std::size_t o = 5; o < 18; ++o) {
    const double source = (static_cast<double>(o) + 0.5) / 2 - 0.5;
    EXPECT_NEAR(v[o], source * source, 1e-4);
  }
}

TEST(Resize, AntialiasAveragesWhatItShrinks) {
  const Tensor y = NodeCase("Resize", 18)
                       .data(f32({8}, {1, 1, 1, 1, 1, 1, 1, 1}))
                       .absent()
                       .absent()
                       .constant(i64({1}, {2}))
                       .attr("mode", "linear")
                       .attr("antialias", 1)
                       .run_one();
  expect_near(y, {2}, {1, 1});
}

TEST(Resize, CropAndExtrapolate) {
  const Tensor y = NodeCase("Resize", 13)
                       .data(f32({3}, {10, 20, 30}))
                       .constant(f32({2}, {0.5, 1.5}))
                       .absent()
                       .constant(i64({1}, {3}))
                       .attr("mode", "linear")
                       .attr("coordinate_transformation_mode", "tf_crop_and_resize")
                       .attr("extrapolation_value", ir::Attribute(-7.0F))
                       .run_one();
  expect_near(y, {3}, {20, 30, -7});  // at 1, 2 and 3
}

TEST(Resize, LegacyNearestFloorsUpAndCeilsDown) {
  const auto legacy = [](double scale) {
    return NodeCase("Resize", 10).data(f32({4}, {1, 2, 3, 4})).constant(f32({1}, {scale})).run_one();
  };
  expect_near(legacy(0.6), {2}, {1, 3});
  expect_near(legacy(1.5), {6}, {1, 1, 2, 3, 3, 4});
}

TEST(Resize, NearestMovesAnyDtype) {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  const Tensor y = NodeCase("Resize", 13).data(i64({2}, {big, 5})).absent().constant(f32({1}, {2})).run_one();
  EXPECT_EQ(to_int64s(y), (std::vector<std::int64_t>{big, big, 5, 5}));
}

TEST(Resize, BytesAreCutTowardZero) {
  const Tensor y = NodeCase("Resize", 13)
                       .data(tensor_of(DType::U8, {2}, {0, 255}))
                       .absent()
                       .constant(f32({1}, {2}))
                       .attr("mode", "linear")
                       .run_one();
  expect_near(y, {4}, {0, 63, 191, 255}, 0);
}

TEST(Upsample, AllVersions) {
  const Tensor x = f32({1, 1, 1, 2}, {1, 2});
  const Tensor v7 =
      NodeCase("Upsample", 7).data(x).attr("scales", ir::Attribute(std::vector<float>{1, 1, 2, 2})).run_one();
  expect_near(v7, {1, 1, 2, 4}, {1, 1, 2, 2, 1, 1, 2, 2});
  const Tensor v9 =
      NodeCase("Upsample", 9).data(x).constant(f32({4}, {1, 1, 1, 2})).attr("mode", "linear").run_one();
  expect_near(v9, {1, 1, 1, 4}, {1, 1.5, 2, 2});
  const Tensor v1 = NodeCase("Upsample", 1)
                        .data(x)
                        .attr("height_scale", ir::Attribute(1.0F))
                        .attr("width_scale", ir::Attribute(2.0F))
                        .run_one();
  expect_near(v1, {1, 1, 1, 4}, {1, 1, 2, 2});
  EXPECT_THAT(NodeCase("Upsample", 10).data(x).inferred(), HasSubstr("no definition"));
}

}  // namespace
}  // namespace atc::ops
