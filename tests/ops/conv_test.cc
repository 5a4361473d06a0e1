#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

/// Convolution by its definition: every output asks for its own inputs.
std::vector<double> direct_conv2d(const Tensor& x, const Tensor& w, std::int64_t group, Dims strides,
                                  Dims dilations, Dims pads, std::int64_t oh, std::int64_t ow) {
  const auto xs = to_doubles(x);
  const auto ws = to_doubles(w);
  const std::int64_t cg = w.shape[1];
  const std::int64_t mg = w.shape[0] / group;
  std::vector<double> y;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t m = 0; m < w.shape[0]; ++m)
      for (std::int64_t i = 0; i < oh; ++i)
        for (std::int64_t j = 0; j < ow; ++j) {
          double sum = 0;
          for (std::int64_t c = 0; c < cg; ++c)
            for (std::int64_t r = 0; r < w.shape[2]; ++r)
              for (std::int64_t s = 0; s < w.shape[3]; ++s) {
                const std::int64_t h = i * strides[0] + r * dilations[0] - pads[0];
                const std::int64_t v = j * strides[1] + s * dilations[1] - pads[1];
                if (h < 0 || v < 0 || h >= x.shape[2] || v >= x.shape[3]) continue;
                const std::int64_t channel = m / mg * cg + c;
                sum += xs[static_cast<std::size_t>(
                           ((n * x.shape[1] + channel) * x.shape[2] + h) * x.shape[3] + v)] *
                       ws[static_cast<std::size_t>(((m * cg + c) * w.shape[2] + r) * w.shape[3] + s)];
              }
          y.push_back(sum);
        }
  return y;
}

TEST(Conv, InfersShape) {
  EXPECT_EQ(NodeCase("Conv", 11)
                .typed(DType::F32, Dims{1, 3, 224, 224})
                .typed(DType::F32, Dims{64, 3, 7, 7})
                .typed(DType::F32, Dims{64})
                .ints("pads", {3, 3, 3, 3})
                .ints("strides", {2, 2})
                .inferred(),
            "f32[1,64,112,112]");
}

TEST(Conv, KeepsSymbolsThatTheWindowKeeps) {
  const ir::Shape x = {ir::Dim::named("n"), ir::Dim::of(4), ir::Dim::named("h"), ir::Dim::named("w")};
  EXPECT_EQ(NodeCase("Conv", 11)
                .typed(DType::F16, x)
                .typed(DType::F16, Dims{8, 4, 3, 3})
                .ints("pads", {1, 0, 1, 0})
                .inferred(),
            "f16[n,8,h,?0]");
}

TEST(Conv, UnknownRankGivesUnknownRank) {
  EXPECT_EQ(
      NodeCase("Conv", 11).typed(DType::F32, std::nullopt).typed(DType::F32, Dims{8, 4, 3, 3}).inferred(),
      "f32[*]");
}

TEST(Conv, Refusals) {
  EXPECT_THAT(NodeCase("Conv", 11)
                  .typed(DType::F32, Dims{1, 32, 8, 8})
                  .typed(DType::F32, Dims{8, 64, 3, 3})
                  .inferred(),
              AllOf(HasSubstr("E16006"), HasSubstr("'n0' (Conv)"), HasSubstr("input 1"),
                    HasSubstr("64 input channels"), HasSubstr("32 channels")));
  EXPECT_THAT(
      NodeCase("Conv", 11).typed(DType::F32, Dims{1, 4, 8, 8}).typed(DType::F16, Dims{8, 4, 3, 3}).inferred(),
      HasSubstr("must have the dtype of input 0, f32"));
  EXPECT_THAT(
      NodeCase("Conv", 11).typed(DType::I32, Dims{1, 4, 8, 8}).typed(DType::I32, Dims{8, 4, 3, 3}).inferred(),
      HasSubstr("found i32"));
  EXPECT_THAT(
      NodeCase("Conv", 11).typed(DType::F32, Dims{1, 4, 8, 8}).typed(DType::F32, Dims{8, 4, 3}).inferred(),
      HasSubstr("has rank 3, expected 4"));
  EXPECT_THAT(NodeCase("Conv", 11)
                  .typed(DType::F32, Dims{1, 4, 8, 8})
                  .typed(DType::F32, Dims{8, 4, 3, 3})
                  .typed(DType::F32, Dims{7})
                  .inferred(),
              HasSubstr("has 7 elements, expected 8"));
  EXPECT_THAT(NodeCase("Conv", 11)
                  .typed(DType::F32, Dims{1, 4, 8, 8})
                  .typed(DType::F32, Dims{9, 2, 3, 3})
                  .attr("group", 2)
                  .inferred(),
              HasSubstr("not a multiple of group 2"));
}

TEST(Conv, ReferenceMatchesTheDefinition) {
  const Tensor x = noise_tensor({2, 4, 7, 9}, 1);
  const Tensor w = noise_tensor({6, 2, 3, 2}, 2);
  const auto y = NodeCase("Conv", 11)
                     .data(x)
                     .constant(w)
                     .attr("group", 2)
                     .ints("strides", {2, 1})
                     .ints("dilations", {1, 3})
                     .ints("pads", {1, 2, 0, 1})
                     .run_one();
  expect_near(y, {2, 6, 3, 9}, direct_conv2d(x, w, 2, {2, 1}, {1, 3}, {1, 2}, 3, 9));
}

TEST(Conv, PointwiseWithBias) {
  const auto y = NodeCase("Conv", 1)
                     .data(f32({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}))
                     .constant(f32({1, 2, 1, 1}, {10, 1}))
                     .constant(f32({1}, {0.5}))
                     .run_one();
  expect_near(y, {1, 1, 1, 3}, {14.5, 25.5, 36.5});
}

TEST(Conv, OneAndThreeDimensions) {
  expect_near(NodeCase("Conv", 11)
                  .data(f32({1, 1, 4}, {1, 2, 3, 4}))
                  .constant(f32({1, 1, 2}, {1, -1}))
                  .ints("pads", {1, 0})
                  .run_one(),
              {1, 1, 4}, {-1, -1, -1, -1});
  const auto y = NodeCase("Conv", 11)
                     .data(noise_tensor({1, 2, 3, 4, 5}, 3))
                     .constant(f32({1, 2, 1, 1, 1}, {1, 0}))
                     .run_one();
  std::vector<double> first_channel = to_doubles(noise_tensor({1, 2, 3, 4, 5}, 3));
  first_channel.resize(60);
  expect_near(y, {1, 1, 3, 4, 5}, first_channel);
}

TEST(Conv, HalfAccumulatesWide) {
  // 2048 + 1 + 1 is lost term by term in half precision, but not when it is rounded once.
  const auto y = NodeCase("Conv", 11)
                     .data(tensor_of(DType::F16, {1, 3, 1}, {2048, 1, 1}))
                     .constant(tensor_of(DType::F16, {1, 3, 1}, {1, 1, 1}))
                     .run_one();
  expect_near(y, {1, 1, 1}, {2050}, 0);
}

TEST(Conv, EmptyBatch) {
  const auto y =
      NodeCase("Conv", 11).data(f32({0, 1, 4}, {})).constant(f32({2, 1, 3}, {1, 2, 3, 4, 5, 6})).run_one();
  expect_near(y, {0, 2, 2}, {});
}

TEST(ConvTranspose, InfersShape) {
  EXPECT_EQ(NodeCase("ConvTranspose", 11)
                .typed(DType::F32, Dims{1, 8, 16, 16})
                .typed(DType::F32, Dims{8, 4, 4, 4})
                .attr("group", 2)
                .ints("strides", {2, 2})
                .ints("pads", {1, 1, 1, 1})
                .inferred(),
            "f32[1,8,32,32]");
  EXPECT_THAT(NodeCase("ConvTranspose", 11)
                  .typed(DType::F32, Dims{1, 8, 16, 16})
                  .typed(DType::F32, Dims{4, 4, 4, 4})
                  .inferred(),
              HasSubstr("takes 4 input channels (dim 0), the data has 8"));
  EXPECT_THAT(NodeCase("ConvTranspose", 11)
                  .typed(DType::F32, Dims{1, 1, 2})
                  .typed(DType::F32, Dims{1, 1, 2})
                  .ints("pads", {2, 2})
                  .inferred(),
              HasSubstr("leave nothing"));
}

/// The transposed convolution is the adjoint of the convolution: <conv(a), b> = <a, conv_transpose(b)>.
TEST(ConvTranspose, IsTheAdjointOfConv) {
  const Tensor a = noise_tensor({2, 4, 7, 8}, 4);
  const Tensor w = noise_tensor({6, 2, 3, 2}, 5);
  const auto set = [](NodeCase& c) -> NodeCase& {
    return c.attr("group", 2).ints("strides", {2, 2}).ints("dilations", {1, 2}).ints("pads", {1, 0, 1, 1});
  };
  NodeCase conv("Conv", 11);
  const Tensor ca = set(conv.data(a).constant(w)).run_one();
  const Tensor b = noise_tensor(ca.shape, 6);
  NodeCase transpose("ConvTranspose", 11);
  const Tensor tb = set(transpose.data(b).constant(w)).ints("output_padding", {0, 0}).run_one();
  ASSERT_EQ(tb.shape[1], 4);
  double left = 0;
  double right = 0;
  const auto va = to_doubles(a);
  const auto vb = to_doubles(b);
  const auto vca = to_doubles(ca);
  const auto vtb = to_doubles(tb);
  for (std::size_t i = 0; i < vb.size(); ++i) left += vca[i] * vb[i];
  // tb may be smaller than a at the far ends, which no window reached.
  for (std::int64_t nc = 0; nc < 8; ++nc)
    for (std::int64_t h = 0; h < tb.shape[2]; ++h)
      for (std::int64_t v = 0; v < tb.shape[3]; ++v)
        right += va[static_cast<std::size_t>((nc * 7 + h) * 8 + v)] *
                 vtb[static_cast<std::size_t>((nc * tb.shape[2] + h) * tb.shape[3] + v)];
  EXPECT_NEAR(left, right, 1e-4);
}

TEST(ConvTranspose, OutputShapeBeyondTheFullResultIsZero) {
  const auto y = NodeCase("ConvTranspose", 11)
                     .data(f32({1, 1, 2}, {1, 2}))
                     .constant(f32({1, 1, 2}, {1, 10}))
                     .constant(f32({1}, {0.5}))
                     .ints("output_shape", {5})
                     .run_one();
  expect_near(y, {1, 1, 5}, {1.5, 12.5, 20.5, 0.5, 0.5});
}

}  // namespace
}  // namespace atc::ops
