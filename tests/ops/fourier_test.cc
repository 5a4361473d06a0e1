#include <cmath>
#include <complex>
#include <numbers>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;
using Complex = std::complex<double>;

/// The definition: sum of x[n] exp(-+2 pi i k n / N).
std::vector<Complex> by_definition(const std::vector<Complex>& x, bool inverse) {
  const auto n = static_cast<double>(x.size());
  std::vector<Complex> y;
  for (std::size_t k = 0; k < x.size(); ++k) {
    Complex sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      sum += x[i] * std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(i * k) / n);
    y.push_back(inverse ? sum / n : sum);
  }
  return y;
}

/// Real and imaginary parts one after the other, of the first `count`.
std::vector<double> parts(const std::vector<Complex>& x, std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.insert(out.end(), {x[i].real(), x[i].imag()});
  return out;
}

std::vector<Complex> signal(std::size_t n, unsigned seed, bool complex) {
  const std::vector<double> re = noise(n, seed);
  const std::vector<double> im = noise(n, seed + 100);
  std::vector<Complex> x;
  for (std::size_t i = 0; i < n; ++i) x.emplace_back(re[i], complex ? im[i] : 0);
  return x;
}

std::vector<double> reals(const std::vector<Complex>& x) {
  std::vector<double> out;
  for (const Complex& v : x) out.push_back(v.real());
  return out;
}

TEST(Dft, OfEveryLength) {
  for (std::size_t n : {1U, 2U, 5U, 8U, 12U, 30U}) {
    const auto length = static_cast<std::int64_t>(n);
    const std::vector<Complex> x = signal(n, 1, true);
    for (bool inverse : {false, true}) {
      NodeCase c("DFT", 20);
      c.data(f32({1, length, 2}, parts(x, n))).attr("inverse", inverse ? 1 : 0);
      expect_near(c.run_one(), {1, length, 2}, parts(by_definition(x, inverse), n), 1e-4);
    }
    NodeCase real("DFT", 20);
    real.data(f32({1, length, 1}, reals(signal(n, 1, false)))).attr("onesided", 1);
    expect_near(real.run_one(), {1, length / 2 + 1, 2},
                parts(by_definition(signal(n, 1, false), false), n / 2 + 1), 1e-4);
  }
}

TEST(Dft, LengthCutsOrFillsUp) {
  for (std::size_t n : {4U, 9U}) {
    std::vector<Complex> x = signal(6, 2, true);
    NodeCase c("DFT", 17);
    c.data(f32({1, 6, 2}, parts(x, 6))).constant(i64({}, {static_cast<std::int64_t>(n)}));
    x.resize(n);
    expect_near(c.run_one(), {1, static_cast<std::int64_t>(n), 2}, parts(by_definition(x, false), n), 1e-4);
  }
}

TEST(Dft, AxisIsAnAttributeThenAnInput) {
  const std::vector<double> v = noise(12, 3);  // [2, 3, 2, 1]
  std::vector<double> expected(24);
  for (std::size_t o = 0; o < 2; ++o)
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<Complex> y = by_definition({v[o * 6 + i], v[o * 6 + 2 + i], v[o * 6 + 4 + i]}, false);
      for (std::size_t k = 0; k < 3; ++k) {
        expected[((o * 3 + k) * 2 + i) * 2] = y[k].real();
        expected[((o * 3 + k) * 2 + i) * 2 + 1] = y[k].imag();
      }
    }
  NodeCase attribute("DFT", 17);  // axis 1 without one
  expect_near(attribute.data(f32({2, 3, 2, 1}, v)).run_one(), {2, 3, 2, 2}, expected);
  NodeCase input("DFT", 20);
  input.data(f32({2, 3, 2, 1}, v)).absent().constant(i64({}, {-3}));
  expect_near(input.run_one(), {2, 3, 2, 2}, expected);
}

TEST(Dft, InverseOfOnesidedIsReal) {
  for (std::size_t n : {6U, 7U}) {
    const std::vector<Complex> x = signal(n, 4, false);
    const auto length = static_cast<std::int64_t>(n);
    NodeCase c("DFT", 20);
    c.data(f32({1, length / 2 + 1, 2}, parts(by_definition(x, false), n / 2 + 1)));
    if (n % 2 != 0) c.constant(i64({}, {length}));  // else 2 (bins - 1)
    expect_near(c.attr("inverse", 1).attr("onesided", 1).run_one(), {1, length, 1}, reals(x), 1e-4);
  }
}

TEST(Dft, InfersAndRefuses) {
  const auto infer = [](Dims shape, int version, int axis, int onesided) {
    NodeCase c("DFT", version);
    c.typed(DType::F16, shape).attr("onesided", onesided);
    if (version < 20) return c.attr("axis", axis).inferred();
    return c.absent().constant(i64({}, {axis})).inferred();
  };
  EXPECT_EQ(infer({2, 7, 5, 1}, 19, 2, 1), "f16[2,7,3,2]");
  EXPECT_EQ(infer({2, 7, 5, 1}, 20, -3, 0), "f16[2,7,5,2]");
  EXPECT_THAT(infer({2, 7, 5, 1}, 20, 3, 0), HasSubstr("axis 3 is not one of the signal's axes"));
  EXPECT_THAT(infer({2, 7, 5, 2}, 20, 1, 1), HasSubstr("must be real for a onesided transform"));
  EXPECT_THAT(infer({2, 7, 5, 3}, 20, 1, 0), HasSubstr("1 (real) or 2 (complex)"));
  NodeCase open("DFT", 20);
  EXPECT_EQ(open.typed(DType::F32, Dims{2, 8, 1}).typed(DType::I64, Dims{}).inferred(), "f32[2,?0,2]");
}

TEST(Stft, FramesTimesWindow) {
  const std::vector<Complex> x = signal(11, 5, false);
  const std::vector<double> window = noise(4, 6);
  for (bool windowed : {false, true})
    for (int onesided : {0, 1}) {
      NodeCase c("STFT", 17);
      c.data(f32({1, 11, 1}, reals(x))).constant(i64({}, {3}));
      if (windowed)
        c.data(f32({4}, window));
      else
        c.absent();
      c.constant(i64({}, {4})).attr("onesided", onesided);
      std::vector<double> expected;
      const std::size_t bins = onesided != 0 ? 3 : 4;
      for (std::size_t f = 0; f < 3; ++f) {
        std::vector<Complex> frame(4);
        for (std::size_t i = 0; i < 4; ++i) frame[i] = x[3 * f + i] * (windowed ? window[i] : 1.0);
        const std::vector<double> y = parts(by_definition(frame, false), bins);
        expected.insert(expected.end(), y.begin(), y.end());
      }
      expect_near(c.run_one(), {1, 3, static_cast<std::int64_t>(bins), 2}, expected);
    }
}

TEST(Stft, InfersAndRefuses) {
  NodeCase window("STFT", 17);
  window.typed(DType::F32, Dims{2, 128, 1}).constant(i64({}, {8})).typed(DType::F32, Dims{16});
  EXPECT_EQ(window.inferred(), "f32[2,15,9,2]");
  NodeCase neither("STFT", 17);
  EXPECT_THAT(neither.typed(DType::F32, Dims{2, 128, 1}).constant(i64({}, {8})).inferred(),
              HasSubstr("needs window or frame_length"));
  NodeCase differ("STFT", 17);
  differ.typed(DType::F32, Dims{2, 128, 1}).constant(i64({}, {8})).typed(DType::F32, Dims{16});
  EXPECT_THAT(differ.constant(i64({}, {17})).inferred(),
              HasSubstr("must have the frame_length of 17 elements"));
  NodeCase longer("STFT", 17);
  longer.typed(DType::F32, Dims{2, 12, 1}).constant(i64({}, {8})).typed(DType::F32, Dims{16});
  EXPECT_THAT(longer.inferred(), HasSubstr("is shorter than a frame of 16"));
  NodeCase complex("STFT", 17);
  complex.typed(DType::F32, Dims{2, 128, 2}).constant(i64({}, {8})).typed(DType::F32, Dims{16});
  EXPECT_THAT(complex.inferred(), HasSubstr("set onesided = 0 for complex signals"));
}

}  // namespace
}  // namespace atc::ops
