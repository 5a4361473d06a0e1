// Single vector instructions: masks, strides, reductions, conversions, gathers, sorts, against formulas.
#include <algorithm>
#include <numeric>

#include "ascendc/harness.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

using atc::ascendc::testing::launcher;
using atc::ascendc::testing::random;

using Scratch = TBuf<TPosition::VECCALC>;

template <class T>
LocalTensor<T> load(TPipe& pipe, Scratch& buffer, void* from, uint32_t n, uint32_t room = 0) {
  GlobalTensor<T> g;
  g.SetGlobalBuffer((__gm__ T*)from);
  pipe.InitBuffer(buffer, (room > n ? room : n) * sizeof(T));
  auto t = buffer.Get<T>();
  DataCopy(t, g, n);
  PipeBarrier<PIPE_ALL>();
  return t;
}
template <class T>
void store(void* to, const LocalTensor<T>& t, uint32_t n) {
  GlobalTensor<T> g;
  g.SetGlobalBuffer((__gm__ T*)to);
  PipeBarrier<PIPE_ALL>();
  DataCopy(g, t, n);
}

TEST(Instructions, MasksAndStrides) {
  auto x = random(512, -1, 1, 1);
  std::vector<float> y(512);
  // Every second data block of the source, to dense blocks; 40 lanes of each repeat, then bits.
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out;
    auto x = load<float>(pipe, in, a[0], 512);
    pipe.InitBuffer(out, 2048);
    auto y = out.Get<float>();
    Duplicate(y, -7.0f, 512);
    PipeBarrier<PIPE_V>();
    Muls(y, x, 2.0f, 40, 2, {1, 2, 8, 16});
    uint64_t bits[2] = {0x5555, 0};
    Adds(y[256], x, 1.0f, bits, 1, {1, 1, 8, 8});
    store(a[1], y, 512);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  for (int r = 0; r < 2; ++r)
    for (int i = 0; i < 64; ++i) {
      const float expected = i < 40 ? x[r * 128 + i / 8 * 16 + i % 8] * 2 : -7.0f;
      ASSERT_EQ(y[r * 64 + i], expected) << r << " " << i;
    }
  for (int i = 0; i < 64; ++i) ASSERT_EQ(y[256 + i], i < 16 && i % 2 == 0 ? x[i] + 1 : -7.0f);
}

TEST(Instructions, AccumulationOverRepeats) {
  auto x = random(512, -1, 1, 2);
  std::vector<float> y(64);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out;
    auto x = load<float>(pipe, in, a[0], 512);
    pipe.InitBuffer(out, 256);
    auto y = out.Get<float>();
    Duplicate(y, 0.0f, 64);
    PipeBarrier<PIPE_V>();
    Add(y, x, y, 64, 8, {1, 1, 1, 0, 8, 0});
    store(a[1], y, 64);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  for (int i = 0; i < 64; ++i) {
    float sum = 0;
    for (int r = 0; r < 8; ++r) sum = x[r * 64 + i] + sum;
    ASSERT_EQ(y[i], sum);
  }
}

TEST(Instructions, CounterModeTakesItsCountFromTheRegister) {
  auto x = random<half>(256, -1, 1, 3);
  std::vector<half> y(256);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out;
    auto x = load<half>(pipe, in, a[0], 256);
    pipe.InitBuffer(out, 512);
    auto y = out.Get<half>();
    Duplicate(y, half(0), 256);
    PipeBarrier<PIPE_V>();
    SetMaskCount();
    SetVectorMask<half, MaskMode::COUNTER>(0, 150);
    Muls<half, false>(y, x, half(-1), MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    SetMaskNorm();
    ResetMask();
    store(a[1], y, 256);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  for (int i = 0; i < 256; ++i) ASSERT_EQ(float(y[i]), i < 150 ? -float(x[i]) : 0.0f) << i;
}

TEST(Instructions, IntegerArithmetic) {
  std::vector<int32_t> x = {1, -5, 1 << 30, 7, -9, 100, 0, 3}, y(24);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out;
    auto x = load<int32_t>(pipe, in, a[0], 8);
    pipe.InitBuffer(out, 96);
    auto y = out.Get<int32_t>();
    Muls(y, x, 4, 8);
    ShiftRight(y[8], x, 1, 8);
    Maxs(y[16], x, 2, 8);
    store(a[1], y, 24);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(y[i], static_cast<int32_t>(static_cast<uint32_t>(x[i]) * 4U));
    EXPECT_EQ(y[8 + i], x[i] >> 1);
    EXPECT_EQ(y[16 + i], std::max(x[i], 2));
  }
}

TEST(Instructions, CastsRoundAsTheModeSays) {
  std::vector<float> x = {0.5f,   1.5f, 2.5f, -0.5f, -1.5f, 2.4f, -2.6f, 1e10f,
                          -1e10f, 3.0f, 0.0f, -0.2f, 7.5f,  8.5f, 1.1f,  -1.1f};
  std::vector<int32_t> y(16 * 5);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out;
    auto x = load<float>(pipe, in, a[0], 16);
    pipe.InitBuffer(out, 16 * 5 * 4);
    auto y = out.Get<int32_t>();
    Cast(y, x, RoundMode::CAST_RINT, 16);
    Cast(y[16], x, RoundMode::CAST_FLOOR, 16);
    Cast(y[32], x, RoundMode::CAST_CEIL, 16);
    Cast(y[48], x, RoundMode::CAST_ROUND, 16);
    Cast(y[64], x, RoundMode::CAST_TRUNC, 16);
    store(a[1], y, 80);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  auto to = [](double v) { return static_cast<int32_t>(std::clamp(v, -2147483648.0, 2147483647.0)); };
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(y[i], to(std::nearbyint(double(x[i]))));
    EXPECT_EQ(y[16 + i], to(std::floor(double(x[i]))));
    EXPECT_EQ(y[32 + i], to(std::ceil(double(x[i]))));
    EXPECT_EQ(y[48 + i], to(std::round(double(x[i]))));
    EXPECT_EQ(y[64 + i], to(std::trunc(double(x[i]))));
  }
}

TEST(Instructions, CastsBetweenFloats) {
  auto x = random(128, -70000, 70000, 4);
  x[0] = 1.00048828125f;  // half way between two halves
  std::vector<half> h(128);
  std::vector<bfloat16_t> b(128);
  std::vector<int8_t> c(128);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, half_out, bf_out, byte_out;
    auto x = load<float>(pipe, in, a[0], 128);
    pipe.InitBuffer(half_out, 256);
    pipe.InitBuffer(bf_out, 256);
    pipe.InitBuffer(byte_out, 128);
    Cast(half_out.Get<half>(), x, RoundMode::CAST_NONE, 128);
    Cast(bf_out.Get<bfloat16_t>(), x, RoundMode::CAST_RINT, 128);
    PipeBarrier<PIPE_V>();
    Cast(byte_out.Get<int8_t>(), half_out.Get<half>(), RoundMode::CAST_RINT, 128);
    store(a[1], half_out.Get<half>(), 128);
    store(a[2], bf_out.Get<bfloat16_t>(), 128);
    store(a[3], byte_out.Get<int8_t>(), 128);
  })
      .arg(x, "x")
      .arg(h, "h")
      .arg(b, "b")
      .arg(c, "c")
      .clean();
  EXPECT_EQ(float(h[0]), 1.0f);
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(h[i].bits(), half(x[i]).bits());
    EXPECT_EQ(b[i].bits(), bfloat16_t(x[i]).bits());
    EXPECT_EQ(c[i], std::clamp(std::nearbyint(double(float(h[i]))), -128.0, 127.0));
  }
}

TEST(Instructions, Reductions) {
  auto x = random(1000, -5, 5, 6);
  x[777] = 9;
  x[333] = -9;
  std::vector<float> y(24);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out, work;
    auto x = load<float>(pipe, in, a[0], 1000);
    pipe.InitBuffer(out, 96);
    pipe.InitBuffer(work, 4096);
    auto y = out.Get<float>();
    Duplicate(y, 0.0f, 24);
    PipeBarrier<PIPE_V>();
    ReduceSum(y, x, work.Get<float>(), 1000);
    ReduceMax(y[8], x, work.Get<float>(), 1000, true);
    ReduceMin(y[16], x, work.Get<float>(), 1000, true);
    store(a[1], y, 24);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  EXPECT_NEAR(y[0], std::accumulate(x.begin(), x.end(), 0.0), 1e-3);
  EXPECT_EQ(y[8], 9.0f);
  EXPECT_EQ(std::bit_cast<uint32_t>(y[9]), 777U);
  EXPECT_EQ(y[16], -9.0f);
  EXPECT_EQ(std::bit_cast<uint32_t>(y[17]), 333U);
}

TEST(Instructions, ReductionsOfRepeatsBlocksAndPairs) {
  auto x = random<half>(256, -5, 5, 6);
  std::vector<half> y(16 * 12);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out;
    auto x = load<half>(pipe, in, a[0], 256);
    pipe.InitBuffer(out, 16 * 12 * 2);
    auto y = out.Get<half>();
    Duplicate(y, half(0), 16 * 12);
    PipeBarrier<PIPE_V>();
    WholeReduceMax(y, x, 128, 2, 1, 1, 8, ReduceOrder::ORDER_VALUE_INDEX);
    BlockReduceMin(y[16], x, 2, 128, 1, 1, 8);
    PairReduceSum(y[32], x, 128, 2, 1, 1, 8);
    WholeReduceSum(y[176], x, 100, 2, 1, 1, 8);
    store(a[1], y, 16 * 12);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  for (int r = 0; r < 2; ++r) {
    const auto* row = x.data() + r * 128;
    const auto best = std::max_element(row, row + 128, [](half p, half q) { return float(p) < float(q); });
    EXPECT_EQ(float(y[r * 2]), float(*best));
    EXPECT_EQ(y[r * 2 + 1].bits(), best - row);
    for (int b = 0; b < 8; ++b) {
      float low = 100;
      for (int i = 0; i < 16; ++i) low = std::min(low, float(row[b * 16 + i]));
      EXPECT_EQ(float(y[16 + r * 8 + b]), low);
    }
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(float(y[32 + r * 64 + i]), float(half(float(row[2 * i]) + float(row[2 * i + 1]))));
    double sum = 0;
    for (int i = 0; i < 100; ++i) sum += double(float(row[i]));
    EXPECT_NEAR(float(y[176 + r]), sum, 0.05);
  }
}

TEST(Instructions, CompareAndSelect) {
  auto x = random(256, -1, 1, 8), z = random(256, -1, 1, 9);
  std::vector<float> y(512);
  std::vector<uint8_t> bits(32);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, other, out, mask;
    auto x = load<float>(pipe, in, a[0], 256);
    auto z = load<float>(pipe, other, a[1], 256);
    pipe.InitBuffer(out, 2048);
    pipe.InitBuffer(mask, 32);
    auto y = out.Get<float>();
    auto m = mask.Get<uint8_t>();
    Compare(m, x, z, CMPMODE::GE, 256);
    PipeBarrier<PIPE_V>();
    Select(y, m, x, z, SELMODE::VSEL_TENSOR_TENSOR_MODE, 256);
    Select(y[256], m, x, 0.25f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 256);
    store(a[2], y, 512);
    store(a[3], m, 32);
  })
      .arg(x, "x")
      .arg(z, "z")
      .arg(y, "y")
      .arg(bits, "bits")
      .clean();
  for (int i = 0; i < 256; ++i) {
    ASSERT_EQ(bits[i / 8] >> (i % 8) & 1, x[i] >= z[i]);
    ASSERT_EQ(y[i], std::max(x[i], z[i]));
    ASSERT_EQ(y[256 + i], x[i] >= z[i] ? x[i] : 0.25f);
  }
}

TEST(Instructions, GatherScalarsAndMasks) {
  auto x = random(128, -1, 1, 8);
  std::vector<uint32_t> index(64);
  for (uint32_t i = 0; i < 64; ++i) index[i] = (i * 37 % 128) * 4;
  std::vector<float> y(256);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, offsets, out;
    auto x = load<float>(pipe, in, a[0], 128);
    auto o = load<uint32_t>(pipe, offsets, a[1], 64);
    pipe.InitBuffer(out, 1024);
    auto y = out.Get<float>();
    Duplicate(y, 0.0f, 256);
    PipeBarrier<PIPE_V>();
    Gather(y, x, o, 0u, 64u);
    uint64_t count = 0;
    GatherMask(y[64], x, static_cast<uint8_t>(2), false, 0u, {1, 2, 8, 0}, count);
    ascendc_assert(count == 64, "%d", static_cast<int>(count));
    Brcb(y[128], x, 2, {1, 8});
    store(a[2], y, 256);
  })
      .arg(x, "x")
      .arg(index, "index")
      .arg(y, "y")
      .clean();
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(y[i], x[index[i] / 4]);
    ASSERT_EQ(y[64 + i], x[2 * i + 1]);
  }
  for (int i = 0; i < 128; ++i) ASSERT_EQ(y[128 + i], x[i / 8]);
}

TEST(Instructions, SortsAndExtracts) {
  auto x = random(128, -1, 1, 8);
  x[5] = x[99];  // equal values keep their order
  std::vector<uint32_t> index(128), order(128);
  std::iota(index.begin(), index.end(), 0);
  std::vector<float> y(128);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, indices, sorted, tmp, out, out_index;
    auto x = load<float>(pipe, in, a[0], 128);
    auto i = load<uint32_t>(pipe, indices, a[1], 128);
    pipe.InitBuffer(sorted, 1024);
    pipe.InitBuffer(tmp, 1024);
    pipe.InitBuffer(out, 512);
    pipe.InitBuffer(out_index, 512);
    auto t = tmp.Get<float>();
    LocalTensor<float> concat;
    Concat(concat, x, t, 4);
    Sort<float, true>(sorted.Get<float>(), concat, i, t, 4);
    Extract(out.Get<float>(), out_index.Get<uint32_t>(), sorted.Get<float>(), 4);
    store(a[2], out.Get<float>(), 128);
    store(a[3], out_index.Get<uint32_t>(), 128);
  })
      .arg(x, "x")
      .arg(index, "index")
      .arg(y, "y")
      .arg(order, "order")
      .clean();
  std::stable_sort(index.begin(), index.end(), [&](uint32_t p, uint32_t q) { return x[p] > x[q]; });
  for (int i = 0; i < 128; ++i) {
    ASSERT_EQ(y[i], x[index[i]]);
    ASSERT_EQ(order[i], index[i]) << i;
  }
}

TEST(Instructions, Transpositions) {
  auto x = random<half>(256, -1, 1, 8);
  std::vector<half> y(512);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out;
    auto x = load<half>(pipe, in, a[0], 256);
    pipe.InitBuffer(out, 1024);
    auto y = out.Get<half>();
    Transpose(y, x);
    uint64_t dst[16], src[16];
    for (int i = 0; i < 16; ++i) {
      dst[i] = (uint64_t)(y[256 + i * 16].GetPhyAddr());
      src[i] = (uint64_t)(x[i * 16].GetPhyAddr());
    }
    TransDataTo5HD<half>(dst, src, {false, false, 1, 0, 0});
    store(a[1], y, 512);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  for (int r = 0; r < 16; ++r)
    for (int c = 0; c < 16; ++c) {
      ASSERT_EQ(y[c * 16 + r].bits(), x[r * 16 + c].bits());
      ASSERT_EQ(y[256 + c * 16 + r].bits(), x[r * 16 + c].bits());
    }
}

TEST(Instructions, PaddedRowsAndStridedCopies) {
  auto x = random(200, -1, 1, 8);
  std::vector<float> y(64), z(30);
  launcher([](void* const* a) {
    GlobalTensor<float> x, y, z;
    x.SetGlobalBuffer((__gm__ float*)a[0], 200);
    y.SetGlobalBuffer((__gm__ float*)a[1], 64);
    z.SetGlobalBuffer((__gm__ float*)a[2], 30);
    TPipe pipe;
    Scratch buffer;
    pipe.InitBuffer(buffer, 256);
    auto t = buffer.Get<float>();
    // Three rows of five out of rows of forty; one zero to the left, the rest to the right.
    DataCopyPad(t, x, {3, 20, 140, 1, 0}, {true, 1, 2, -3.0f});
    PipeBarrier<PIPE_ALL>();
    Duplicate(t[8], 8.0f, 8);
    Duplicate(t[24], 8.0f, 8);
    Duplicate(t[40], 8.0f, 24);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, t, 64);
    DataCopyPad(z, t, {3, 24, 1, 16, 0});
  })
      .arg(x, "x")
      .arg(y, "y")
      .arg(z, "z")
      .clean();
  for (int r = 0; r < 3; ++r) {
    for (int i = 0; i < 8; ++i) {
      const float expected = i == 0 || i > 5 ? -3.0f : x[r * 40 + i - 1];
      ASSERT_EQ(y[r * 16 + i], expected) << r << " " << i;
      if (i < 6) {
        ASSERT_EQ(z[r * 10 + i], expected);
      }
    }
  }
}

TEST(Instructions, FusedForms) {
  auto x = random(64, -2, 2, 11), z = random(64, -2, 2, 12);
  auto h = random<half>(64, -2, 2, 13);
  std::vector<float> y(320);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, other, halves, out;
    auto x = load<float>(pipe, in, a[0], 64);
    auto z = load<float>(pipe, other, a[1], 64);
    auto h = load<half>(pipe, halves, a[2], 64);
    pipe.InitBuffer(out, 320 * 4);
    auto y = out.Get<float>();
    Duplicate(y, 3.0f, 320);
    PipeBarrier<PIPE_V>();
    Axpy(y, x, 0.5f, 64);
    MulAddDst(y[64], x, z, 64);
    FusedMulAdd(y[128], x, z, 64);
    AddRelu(y[192], x, z, 64);
    MulAddDst(y[256], h, h, 64);
    store(a[3], y, 320);
  })
      .arg(x, "x")
      .arg(z, "z")
      .arg(h, "h")
      .arg(y, "y")
      .clean();
  for (int i = 0; i < 64; ++i) {
    const double p = double(x[i]), q = double(z[i]), r = double(float(h[i]));
    EXPECT_EQ(y[i], float(p * 0.5 + 3));
    EXPECT_EQ(y[64 + i], float(p * q + 3));
    EXPECT_EQ(y[128 + i], float(p * 3 + q));
    EXPECT_EQ(y[192 + i], std::max(x[i] + z[i], 0.0f));
    EXPECT_EQ(y[256 + i], float(r * r + 3));
  }
}

TEST(Instructions, FunctionsOfTheHighLevelLibrary) {
  auto x = random(64, -3, 3, 11);
  std::vector<float> y(384);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out, tmp;
    auto x = load<float>(pipe, in, a[0], 64);
    pipe.InitBuffer(out, 384 * 4);
    pipe.InitBuffer(tmp, 1024);
    auto y = out.Get<float>();
    Sigmoid(y, x, tmp.Get<uint8_t>(), 64);
    Tanh(y[64], x, 64);
    Silu(y[128], x, 64);
    Gelu(y[192], x, 64);
    Swish(y[256], x, 64, 0.5f);
    Power(y[320], x, 2.0f, 64);
    store(a[1], y, 384);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  for (int i = 0; i < 64; ++i) {
    const double v = double(x[i]), s = 1 / (1 + std::exp(-v));
    EXPECT_NEAR(y[i], s, 1e-6);
    EXPECT_NEAR(y[64 + i], std::tanh(v), 1e-6);
    EXPECT_NEAR(y[128 + i], v * s, 1e-6);
    EXPECT_NEAR(y[192 + i], 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))),
                1e-5);
    EXPECT_NEAR(y[256 + i], v / (1 + std::exp(-0.5 * v)), 1e-6);
    EXPECT_NEAR(y[320 + i], v * v, 1e-5);
  }
}

}  // namespace
