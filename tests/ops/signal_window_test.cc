#include <cmath>
#include <numbers>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

Tensor window(const char* op, std::int64_t size, int periodic) {
  NodeCase c(op, 17);
  return c.constant(i64({}, {size})).attr("periodic", periodic).run_one();
}

TEST(SignalWindows, Formulas) {
  for (std::int64_t size : {2, 7, 10})
    for (int periodic : {0, 1}) {
      std::vector<double> hann;
      std::vector<double> hamming;
      std::vector<double> blackman;
      for (std::int64_t n = 0; n < size; ++n) {
        // With s = sin^2(pi n / N): cos(2 pi n / N) = 1 - 2s and cos(4 pi n / N) = 1 - 8s + 8s^2.
        const double sine = std::sin(std::numbers::pi * static_cast<double>(n) /
                                     static_cast<double>(periodic != 0 ? size : size - 1));
        const double s = sine * sine;
        hann.push_back(s);
        hamming.push_back(4.0 / 46 + 42.0 / 46 * s);
        blackman.push_back(0.36 * s + 0.64 * s * s);
      }
      expect_near(window("HannWindow", size, periodic), {size}, hann);
      expect_near(window("HammingWindow", size, periodic), {size}, hamming);
      expect_near(window("BlackmanWindow", size, periodic), {size}, blackman);
    }
  expect_near(window("HannWindow", 1, 0), {1}, {1});
  expect_near(window("HannWindow", 0, 1), {0}, {});
}

TEST(SignalWindows, InferAndRefuse) {
  NodeCase typed("HannWindow", 17);
  EXPECT_EQ(typed.constant(i64({}, {6})).attr("output_datatype", 10).inferred(), "f16[6]");
  EXPECT_EQ(NodeCase("HannWindow", 17).typed(DType::I32, Dims{}).inferred(), "f32[?0]");
  EXPECT_THAT(NodeCase("HannWindow", 17).constant(i64({}, {-1})).inferred(),
              HasSubstr("must not be negative"));
  EXPECT_THAT(NodeCase("HannWindow", 17).constant(f32({}, {6})).inferred(), HasSubstr("type i32 or i64"));
  EXPECT_THAT(NodeCase("HannWindow", 17).constant(i64({}, {6})).attr("output_datatype", 8).inferred(),
              HasSubstr("output_datatype is 8"));
}

NodeCase& mel(NodeCase& c, std::int64_t bins, std::int64_t length, std::int64_t rate, double low,
              double high) {
  return c.constant(i64({}, {bins}))
      .constant(i64({}, {length}))
      .constant(i64({}, {rate}))
      .constant(f32({}, {low}))
      .constant(f32({}, {high}));
}

TEST(MelWeightMatrix, TrianglesRiseAndFall) {
  NodeCase c("MelWeightMatrix", 17);
  const Tensor y = mel(c, 3, 64, 8000, 100, 3500).run_one();
  ASSERT_EQ(y.shape, (Dims{33, 3}));
  // Corners by the mel scale's inverse, written with natural logarithms.
  std::vector<std::int64_t> corner;
  const double low = std::log(1 + 100.0 / 700);
  const double step = (std::log(1 + 3500.0 / 700) - low) / 5;
  for (int i = 0; i < 5; ++i)
    corner.push_back(static_cast<std::int64_t>(65 * 700 * std::expm1(low + i * step) / 8000));
  const std::vector<double> v = to_doubles(y);
  for (std::int64_t bin = 0; bin < 3; ++bin)
    for (std::int64_t f = 0; f < 33; ++f) {
      const std::int64_t a = corner[static_cast<std::size_t>(bin)];
      const std::int64_t b = corner[static_cast<std::size_t>(bin) + 1];
      const std::int64_t d = corner[static_cast<std::size_t>(bin) + 2];
      double expected = 0;
      if (f > a && f < b) expected = static_cast<double>(f - a) / static_cast<double>(b - a);
      if (f == b) expected = 1;
      if (f > b && f < d) expected = static_cast<double>(d - f) / static_cast<double>(d - b);
      EXPECT_NEAR(v[static_cast<std::size_t>(f * 3 + bin)], expected, 1e-6) << f << "," << bin;
    }
}

TEST(MelWeightMatrix, InfersAndRefuses) {
  NodeCase c("MelWeightMatrix", 17);
  EXPECT_EQ(mel(c, 8, 16, 8192, 0, 4096).inferred(), "f32[9,8]");
  NodeCase bad("MelWeightMatrix", 17);
  mel(bad, 8, 16, 4000, 0, 4096);
  const Tensor bins = i64({}, {8}), length = i64({}, {16}), rate = i64({}, {4000});
  const Tensor low = f32({}, {0}), high = f32({}, {4096});
  EvalContext ctx(bad.node(), {&bins, &length, &rate, &low, &high});
  EXPECT_THAT(Registry::instance().find(bad.node())->reference(ctx).to_string(),
              HasSubstr("is above half of sample_rate"));
}

}  // namespace
}  // namespace atc::ops
