// Functions of the high-level library against formulas in double precision.
#include "ascendc/harness.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

using atc::ascendc::testing::find;
using atc::ascendc::testing::launcher;
using atc::ascendc::testing::random;

template <class T>
double number(T v) {
  return static_cast<double>(static_cast<float>(v));
}

/// Runs work(in, out) on tensors that hold `in` and become `out`.
template <class T, class Work>
std::vector<T> on_core(std::vector<T> in, size_t results, Work work) {
  std::vector<T> out(results);
  auto l = launcher([&](void* const* args) {
    GlobalTensor<T> gi, go;
    gi.SetGlobalBuffer((__gm__ T*)args[0], in.size());
    go.SetGlobalBuffer((__gm__ T*)args[1], results);
    TPipe pipe;
    TBuf<TPosition::VECCALC> a, b;
    pipe.InitBuffer(a, in.size() * sizeof(T));
    pipe.InitBuffer(b, results * sizeof(T));
    auto x = a.template Get<T>();
    auto y = b.template Get<T>();
    DataCopy(x, gi, in.size());
    PipeBarrier<PIPE_ALL>();
    work(x, y, pipe);
    PipeBarrier<PIPE_ALL>();
    DataCopy(go, y, results);
  });
  l.arg(in, "in").output(out, "out").clean();
  return out;
}

template <class Call>
void check_function(Call call, double (*f)(double), float low, float high, double tolerance) {
  const auto in = random<float>(256, low, high, 3);
  const auto out = on_core(in, 256, [&](auto& x, auto& y, TPipe&) { call(y, x); });
  for (size_t i = 0; i < in.size(); ++i) {
    const double expected = f(in[i]);
    ASSERT_NEAR(out[i], expected, tolerance * (1.0 + std::abs(expected))) << in[i];
  }
  const auto narrow = random<half>(256, low, high, 4);
  const auto rounded = on_core(narrow, 256, [&](auto& x, auto& y, TPipe&) { call(y, x); });
  for (size_t i = 0; i < in.size(); ++i) {
    const double expected = f(number(narrow[i]));
    ASSERT_NEAR(number(rounded[i]), expected, 1e-3 * (1.0 + std::abs(expected))) << number(narrow[i]);
  }
}

TEST(HighLevel, FunctionsOfOneElement) {
  check_function([](auto& y, auto& x) { Erfc(y, x, 256); }, std::erfc, -3, 3, 1e-6);
  check_function([](auto& y, auto& x) { Sinh(y, x); }, std::sinh, -4, 4, 1e-6);
  check_function([](auto& y, auto& x) { Cosh(y, x, 256); }, std::cosh, -4, 4, 1e-6);
  check_function([](auto& y, auto& x) { Asin(y, x, 256); }, std::asin, -1, 1, 1e-6);
  check_function([](auto& y, auto& x) { Acos(y, x, 256); }, std::acos, -1, 1, 1e-6);
  check_function([](auto& y, auto& x) { Atan(y, x, 256); }, std::atan, -9, 9, 1e-6);
  check_function([](auto& y, auto& x) { Asinh(y, x, 256); }, std::asinh, -9, 9, 1e-6);
  check_function([](auto& y, auto& x) { Acosh(y, x, 256); }, std::acosh, 1, 9, 1e-6);
  check_function([](auto& y, auto& x) { Atanh(y, x, 256); }, std::atanh, -0.9f, 0.9f, 1e-6);
  check_function([](auto& y, auto& x) { Lgamma(y, x, 256); }, std::lgamma, 0.5f, 9, 1e-6);
  check_function([](auto& y, auto& x) { Log2(y, x, 256); }, std::log2, 0.1f, 9, 1e-6);
  check_function([](auto& y, auto& x) { Log10(y, x, 256); }, std::log10, 0.1f, 9, 1e-6);
  check_function([](auto& y, auto& x) { Frac(y, x, 256); }, [](double x) { return x - std::trunc(x); }, -9, 9,
                 1e-6);
  // The logarithmic derivative of the gamma function, by its difference quotient.
  check_function([](auto& y, auto& x) { Digamma(y, x, 256); },
                 [](double x) { return (std::lgamma(x + 1e-5) - std::lgamma(x - 1e-5)) / 2e-5; }, 0.5f, 9,
                 1e-5);
  // Both approximations of Gelu stay near it.
  const auto gelu = [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); };
  check_function([](auto& y, auto& x) { FasterGeluV2(y, x, 256); },
                 [](double x) {
                   const double c = std::min(std::abs(0.7071 * x), 1.769) - 1.769;
                   return x * (0.5 + (x > 0 ? 1 : -1) * (0.5 - 0.1444 * c * c));
                 },
                 -4, 4, 1e-6);
  const auto in = random<float>(256, -4, 4, 5);
  const auto out = on_core(in, 256, [](auto& x, auto& y, TPipe&) { FasterGeluV2(y, x, 256); });
  for (size_t i = 0; i < 256; ++i) ASSERT_NEAR(out[i], gelu(in[i]), 0.02);
}

TEST(HighLevel, ForcedForms) {
  const auto in = random<float>(128, -2, 2, 6);
  const auto e = on_core(in, 128, [](auto& x, auto& y, TPipe& pipe) {
    TBuf<> t;
    pipe.InitBuffer(t, 4096);
    Exp<float, 15>(y, x, t.Get<uint8_t>(), 128);
  });
  const auto clamped = on_core(in, 128, [](auto& x, auto& y, TPipe&) { Clamp(y, x, -0.5f, 1.0f, 128); });
  const auto low = on_core(in, 128, [](auto& x, auto& y, TPipe&) { ClampMin(y, x, 0.25f, 128); });
  const auto high = on_core(in, 128, [](auto& x, auto& y, TPipe&) { ClampMax(y, x, 0.25f, 128); });
  for (size_t i = 0; i < 128; ++i) {
    ASSERT_NEAR(e[i], std::exp(double(in[i])), 1e-5);
    ASSERT_EQ(clamped[i], std::clamp(in[i], -0.5f, 1.0f));
    ASSERT_EQ(low[i], std::max(in[i], 0.25f));
    ASSERT_EQ(high[i], std::min(in[i], 0.25f));
  }
}

TEST(HighLevel, GatedLinearUnits) {
  const auto in = random<float>(256, -4, 4, 7);
  auto run = [&](auto call) {
    return on_core(in, 128, [&](auto& x, auto& y, TPipe&) { call(y, x, x[128]); });
  };
  const auto swi = run([](auto& y, auto& a, const auto& b) { SwiGLU(y, a, b, 1.5f, 128); });
  const auto ge = run([](auto& y, auto& a, const auto& b) { GeGLU(y, a, b, 128); });
  const auto re = run([](auto& y, auto& a, const auto& b) { ReGlu(y, a, b, 128); });
  const auto h = run([](auto& y, auto& a, const auto& b) { Hypot(y, a, b, 128); });
  // The result in the first source's place.
  const auto in_place = on_core(in, 256, [](auto& x, auto& y, TPipe&) {
    SwiGLU(x, x, x[128], 1.5f, 128);
    Adds(y, x, 0.0f, 256);
  });
  for (size_t i = 0; i < 128; ++i) {
    const double a = in[i], b = in[i + 128];
    ASSERT_NEAR(swi[i], a * b / (1 + std::exp(-1.5 * b)), 1e-5);
    ASSERT_EQ(in_place[i], swi[i]);
    ASSERT_NEAR(ge[i], a * 0.5 * b * (1 + std::tanh(std::sqrt(2 / M_PI) * (b + 0.044715 * b * b * b))), 1e-5);
    ASSERT_NEAR(re[i], a * std::max(b, 0.0), 1e-6);
    ASSERT_NEAR(h[i], std::sqrt(a * a + b * b), 1e-6);
  }
}

// Rows of 48 elements, 40 of them real.
constexpr int kRows = 5, kPitch = 48, kCols = 40;

template <class T, class Call>
std::vector<T> softmax_of(const std::vector<T>& in, Call call) {
  // Results, sums, maxima.
  const int stat = 32 / sizeof(T);
  return on_core(in, kRows * (kPitch + 2 * stat), [&](auto& x, auto& y, TPipe&) {
    Duplicate(y, T(0.0f), kRows * (kPitch + 2 * stat));
    SoftMaxTiling tiling{};
    tiling.srcM = kRows;
    tiling.srcK = kPitch;
    call(y, y[kRows * kPitch], y[kRows * (kPitch + stat)], x, tiling);
  });
}

template <class T>
void check_softmax(double tolerance) {
  const auto in = random<T>(kRows * kPitch, -3, 3, 8);
  const SoftMaxShapeInfo shape{kRows, kPitch, kRows, kCols};
  const auto out = softmax_of(in, [&](const auto& y, const auto& sum, const auto& max, const auto& x,
                                      auto& t) { SoftMax<T>(y, sum, max, x, t, shape); });
  const int stat = 32 / sizeof(T);
  for (int i = 0; i < kRows; ++i) {
    double m = -1e30, s = 0;
    for (int j = 0; j < kCols; ++j) m = std::max(m, number(in[i * kPitch + j]));
    for (int j = 0; j < kCols; ++j) s += std::exp(number(in[i * kPitch + j]) - m);
    for (int j = 0; j < kCols; ++j)
      ASSERT_NEAR(number(out[i * kPitch + j]), std::exp(number(in[i * kPitch + j]) - m) / s, tolerance);
    for (int j = 0; j < stat; ++j) {
      ASSERT_NEAR(number(out[kRows * kPitch + i * stat + j]), s, tolerance * s * 2);
      ASSERT_NEAR(number(out[kRows * (kPitch + stat) + i * stat + j]), m, tolerance);
    }
  }
  // With what came of that, again.
  const auto simple =
      softmax_of(in, [&](const auto& y, const auto& sum, const auto& max, const auto& x, auto& t) {
        SoftMax<T>(y, sum, max, x, t, shape);
        SimpleSoftMax<T>(y, sum, max, x, t, shape);
      });
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kCols; ++j)
      ASSERT_NEAR(number(simple[i * kPitch + j]), number(out[i * kPitch + j]), 2 * tolerance);
}

TEST(HighLevel, SoftMax) {
  check_softmax<float>(1e-6);
  check_softmax<half>(1e-3);
}

TEST(HighLevel, SoftmaxFlashInTwoPieces) {
  const auto in = random<float>(2 * kRows * kPitch, -3, 3, 9);
  const int piece = kRows * kPitch, stats = kRows * 8;
  for (const bool v2 : {true, false}) {
    const auto out = on_core(in, 2 * piece + 3 * stats, [&](auto& x, auto& y, TPipe& pipe) {
      SoftMaxTiling tiling{};
      tiling.srcM = kRows;
      tiling.srcK = kPitch;
      auto sum = y[2 * piece], max = y[2 * piece + stats], factor = y[2 * piece + 2 * stats];
      TBuf<> t;
      pipe.InitBuffer(t, 4096);
      auto tmp = t.Get<uint8_t>();
      if (v2) {
        SoftmaxFlashV2<float, false>(y, sum, max, x, factor, sum, max, tmp, tiling);
        SoftmaxFlashV2<float, true>(y[piece], sum, max, x[piece], factor, sum, max, tmp, tiling);
      } else {
        SoftmaxFlash<float, false>(y, sum, max, x, factor, sum, max, tiling);
        SoftmaxFlash<float, true>(y[piece], sum, max, x[piece], factor, sum, max, tiling);
      }
    });
    for (int i = 0; i < kRows; ++i) {
      double m = -1e30, s = 0;
      for (int p = 0; p < 2; ++p)
        for (int j = 0; j < kPitch; ++j) m = std::max(m, double(in[p * piece + i * kPitch + j]));
      for (int p = 0; p < 2; ++p)
        for (int j = 0; j < kPitch; ++j) s += std::exp(double(in[p * piece + i * kPitch + j]) - m);
      ASSERT_NEAR(out[2 * piece + i * 8], s, 1e-5 * s);
      ASSERT_NEAR(out[2 * piece + stats + i * 8], m, 1e-6);
      // What came first takes the factor; V2 leaves the division to the caller.
      const double factor = out[2 * piece + 2 * stats + i * 8], divisor = v2 ? s : 1.0;
      for (int p = 0; p < 2; ++p)
        for (int j = 0; j < kPitch; ++j) {
          const double y = out[p * piece + i * kPitch + j] * (p == 0 ? factor : 1.0) / divisor;
          ASSERT_NEAR(y, std::exp(double(in[p * piece + i * kPitch + j]) - m) / s, 1e-6);
        }
    }
  }
}

// Sums and maxima as one element a row.
constexpr SoftmaxConfig kPlain{true, 0, 0, SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC};
TEST(HighLevel, SoftmaxStatsWithoutBroadcast) {
  const int rows = 8, cols = 24;
  const auto in = random<float>(rows * cols, -3, 3, 20);
  const auto out = on_core(in, rows * cols + 2 * rows, [&](auto& x, auto& y, TPipe&) {
    const SoftMaxTiling t = SoftMaxFlashV2TilingFunc(SoftMaxShapeInfo{rows, cols, rows, cols}, sizeof(float),
                                                     sizeof(float), 1024);
    auto sum = y[rows * cols], max = y[rows * cols + rows];
    SoftmaxFlashV2<float, false, true, false, false, kPlain>(y, sum, max, x, sum, sum, max, t);
  });
  for (int i = 0; i < rows; ++i) {
    double m = -1e30, s = 0;
    for (int j = 0; j < cols; ++j) m = std::max(m, double(in[i * cols + j]));
    for (int j = 0; j < cols; ++j) s += std::exp(in[i * cols + j] - m);
    ASSERT_NEAR(out[rows * cols + i], s, 1e-5);
    ASSERT_EQ(out[rows * cols + rows + i], static_cast<float>(m));
  }
}

TEST(HighLevel, SoftmaxGrad) {
  const auto in = random<float>(2 * kRows * kPitch, -1, 1, 10);
  const int piece = kRows * kPitch;
  const auto out = on_core(in, piece + kRows * 8, [&](auto& x, auto& y, TPipe&) {
    SoftMaxTiling tiling{};
    tiling.srcM = kRows;
    tiling.srcK = kPitch;
    SoftmaxGrad<float>(y, x, x[piece], tiling);
    SoftmaxGradFront<float>(y[piece], x, x[piece], tiling);
  });
  for (int i = 0; i < kRows; ++i) {
    double dot = 0;
    for (int j = 0; j < kPitch; ++j) dot += double(in[i * kPitch + j]) * in[piece + i * kPitch + j];
    ASSERT_NEAR(out[piece + i * 8 + 3], dot, 1e-5);
    for (int j = 0; j < kPitch; ++j)
      ASSERT_NEAR(out[i * kPitch + j], in[piece + i * kPitch + j] * (in[i * kPitch + j] - dot), 1e-5);
  }
}

TEST(HighLevel, LayerNormAndRmsNorm) {
  const int rows = 6, n = kPitch;
  auto in = random<float>(rows * n + 2 * n, -2, 2, 11);
  const auto out = on_core(in, 2 * rows * n + 16, [&](auto& x, auto& y, TPipe&) {
    LayerNormTiling layer{};
    layer.bLength = 2;
    layer.sLength = 3;
    layer.hLength = n;
    layer.originalHLength = kCols;
    RmsNormTiling rms{};
    rms.bLength = 2;
    rms.sLength = 3;
    rms.hLength = rms.originalHLength = n;
    Duplicate(y, 0.0f, 2 * rows * n + 16);
    LayerNorm<float>(y, y[2 * rows * n], y[2 * rows * n + 8], x, x[rows * n], x[rows * n + n], 1e-5f, layer);
    RmsNorm<float>(y[rows * n], x, x[rows * n], 1e-5f, rms);
  });
  for (int i = 0; i < rows; ++i) {
    double mean = 0, variance = 0, square = 0;
    for (int j = 0; j < kCols; ++j) mean += double(in[i * n + j]) / kCols;
    for (int j = 0; j < kCols; ++j) variance += (in[i * n + j] - mean) * (in[i * n + j] - mean) / kCols;
    for (int j = 0; j < n; ++j) square += double(in[i * n + j]) * in[i * n + j] / n;
    ASSERT_NEAR(out[2 * rows * n + i], mean, 1e-6);
    ASSERT_NEAR(out[2 * rows * n + 8 + i], variance, 1e-6);
    for (int j = 0; j < n; ++j) {
      const double gamma = in[rows * n + j], beta = in[rows * n + n + j];
      if (j < kCols) {
        ASSERT_NEAR(out[i * n + j], (in[i * n + j] - mean) / std::sqrt(variance + 1e-5) * gamma + beta, 1e-5);
      }
      ASSERT_NEAR(out[rows * n + i * n + j], in[i * n + j] / std::sqrt(square + 1e-5) * gamma, 1e-5);
    }
  }
}

TEST(HighLevel, SumsOfRowsAndColumns) {
  const int rows = 4, cols = 40;
  const auto in = random<float>(rows * kPitch, 0.5f, 1.5f, 12);
  const auto out = on_core(in, 8 + 8 + 8 + cols + cols + cols + rows * kPitch, [&](auto& x, auto& y, TPipe&) {
    Duplicate(y, 0.0f, 24 + 3 * cols + rows * kPitch);
    Sum<float>(y, x, SumParams{rows, kPitch, cols});
    Mean<float>(y[8], x, MeanParams{rows, kPitch, cols});
    const uint32_t shape[] = {rows, kPitch};
    ReduceMax<float, Pattern::Reduce::AR>(y[16], x, shape, true);
    const uint32_t narrow[] = {rows, cols};  // 160 bytes a row: the first rows * cols elements
    ReduceSum<float, Pattern::Reduce::RA>(y[24], x, narrow, true);
    ReduceProd<float, Pattern::Reduce::RA>(y[24 + cols], x, narrow, true);
    ReduceMin<float, Pattern::Reduce::RA>(y[24 + 2 * cols], x, narrow, true);
    CumSum<float>(y[24 + 3 * cols], y, x, CumSumInfo{rows, kPitch});
  });
  for (int i = 0; i < rows; ++i) {
    double sum = 0, most = 0, running = 0;
    for (int j = 0; j < cols; ++j) sum += in[i * kPitch + j];
    for (int j = 0; j < kPitch; ++j) {
      most = std::max(most, double(in[i * kPitch + j]));
      running += in[i * kPitch + j];
      ASSERT_NEAR(out[24 + 3 * cols + i * kPitch + j], running, 1e-4);
    }
    ASSERT_NEAR(out[i], sum, 1e-5);
    ASSERT_NEAR(out[8 + i], sum / cols, 1e-6);
    ASSERT_EQ(out[16 + i], static_cast<float>(most));
  }
  for (int j = 0; j < cols; ++j) {
    double sum = 0, product = 1, least = 1e9;
    for (int i = 0; i < rows; ++i) {
      const double v = in[i * cols + j];
      sum += v;
      product *= v;
      least = std::min(least, v);
    }
    ASSERT_NEAR(out[24 + j], sum, 1e-5);
    ASSERT_NEAR(out[24 + cols + j], product, 1e-5);
    ASSERT_EQ(out[24 + 2 * cols + j], static_cast<float>(least));
  }
}

TEST(HighLevel, Broadcasts) {
  const auto in = random<float>(16, -1, 1, 13);
  const auto out = on_core(in, 16 * 4 + 8 * 16, [](auto& x, auto& y, TPipe&) {
    const uint32_t wide[] = {4, 16}, row[] = {1, 16}, tall[] = {8, 16}, column[] = {8, 1};
    Broadcast<float, 2, 0>(y, x, wide, row);
    Broadcast<float, 2, 1>(y[64], x, tall, column);
  });
  for (int i = 0; i < 64; ++i) ASSERT_EQ(out[i], in[i % 16]);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(out[64 + i], in[i / 16]);
}

TEST(HighLevel, Refused) {
  auto run = [](auto work) {
    std::vector<float> data(64);
    auto l = launcher([&](void* const*) {
      TPipe pipe;
      TBuf<> b;
      pipe.InitBuffer(b, 256);
      auto x = b.Get<float>();
      work(x);
    });
    return l.arg(data, "data").run();
  };
  SoftMaxTiling t{};
  t.srcM = 4;
  t.srcK = 32;
  // 128 elements of a tensor of 64, none of them written.
  const auto o = run([&](auto& x) {
    Duplicate(x, 1.0f, 64);
    SoftMax<float>(x, x, t);
  });
  find(o, "tensor-bounds", "SoftMax");
  t.srcM = 1;
  find(run([&](auto& x) { SoftMax<float>(x, x, t); }), "uninitialised", "SoftMax");
  find(run([&](auto& x) { SoftMax<float>(x[3], x[3], t); }), "operand-alignment", "SoftMax");
  find(run([&](auto& x) {
         Duplicate(x, 1.0f, 64);
         Sum<float>(x, x, SumParams{2, 8, 16});
       }),
       "count", "16 columns of rows of 8");
}

}  // namespace
