// TopK, AscendQuant, AscendDequant and GatherMask against plain loops.
#include <limits>

#include "ascendc/harness.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

using atc::ascendc::Outcome;
using atc::ascendc::testing::find;
using atc::ascendc::testing::launcher;
using atc::ascendc::testing::random;

using Scratch = TBuf<TPosition::VECCALC>;

template <class T>
LocalTensor<T> load(TPipe& pipe, Scratch& buffer, void* gm, uint32_t n) {
  pipe.InitBuffer(buffer, n * sizeof(T));
  auto t = buffer.Get<T>();
  GlobalTensor<T> g;
  g.SetGlobalBuffer((__gm__ T*)gm, n);
  DataCopy(t, g, n);
  PipeBarrier<PIPE_ALL>();
  return t;
}
template <class T>
void store(void* gm, const LocalTensor<T>& t, uint32_t n) {
  PipeBarrier<PIPE_ALL>();
  GlobalTensor<T> g;
  g.SetGlobalBuffer((__gm__ T*)gm, n);
  DataCopy(g, t, n);
  PipeBarrier<PIPE_ALL>();
}

/// What TopK gives for `rows` of `inner` values, of which n count: by repeated search.
template <class T>
void expect_top_k(const std::vector<T>& x, const std::vector<int32_t>& places, const std::vector<T>& value,
                  const std::vector<int32_t>& found, int rows, int inner, int n, int k, int pitch,
                  int places_pitch, bool largest, bool own_places) {
  for (int r = 0; r < rows; ++r) {
    std::vector<bool> taken(n);
    for (int j = 0; j < k; ++j) {
      int best = -1;
      for (int i = 0; i < n; ++i) {
        if (taken[i]) continue;
        const float v = static_cast<float>(x[r * inner + i]);
        const float b = best < 0 ? 0 : static_cast<float>(x[r * inner + best]);
        if (best < 0 || (largest ? v > b : v < b)) best = i;
      }
      taken[best] = true;
      ASSERT_EQ(static_cast<float>(value[r * pitch + j]), static_cast<float>(x[r * inner + best]))
          << r << " " << j;
      ASSERT_EQ(found[r * places_pitch + j], places[(own_places ? r * inner : 0) + best]) << r << " " << j;
    }
  }
}

template <class T, bool largest>
void check_normal() {
  constexpr int kRows = 3, kInner = 96, kN = 83, kK = 21, kPitch = sizeof(T) == 4 ? 24 : 32, kPlaces = 24;
  auto x = random<T>(kRows * kInner, -1, 1, 5);
  x[7] = x[40];  // equal: the first comes first
  std::vector<int32_t> places(kInner), found(kRows * kPlaces);
  for (int i = 0; i < kInner; ++i) places[i] = 1000 - 3 * i;
  std::vector<T> value(kRows * kPitch);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, index, out, out_index, tmp;
    auto x = load<T>(pipe, in, a[0], kRows * kInner);
    auto i = load<int32_t>(pipe, index, a[1], kInner);
    pipe.InitBuffer(out, kRows * kPitch * sizeof(T));
    pipe.InitBuffer(out_index, kRows * kPlaces * 4);
    pipe.InitBuffer(tmp, 4096);
    auto y = out.Get<T>();
    auto p = out_index.Get<int32_t>();
    Duplicate(y, static_cast<T>(0), kRows * kPitch);
    Duplicate(p, 0, kRows * kPlaces);
    PipeBarrier<PIPE_V>();
    TopK<T, true, false, false, TopKMode::TOPK_NORMAL>(y, p, x, i, LocalTensor<bool>(), tmp.Get<uint8_t>(),
                                                       kK, TopkTiling{}, TopKInfo{kRows, kInner, kN},
                                                       largest);
    store(a[2], y, kRows * kPitch);
    store(a[3], p, kRows * kPlaces);
  })
      .arg(x, "x")
      .arg(places, "places")
      .arg(value, "value")
      .arg(found, "found")
      .clean();
  expect_top_k(x, places, value, found, kRows, kInner, kN, kK, kPitch, kPlaces, largest, false);
}

TEST(TopK, NormalMode) {
  check_normal<float, true>();
  check_normal<float, false>();
  check_normal<half, true>();
  check_normal<half, false>();
}

TEST(TopK, SmallModeIsDenseAndCountsPlaces) {
  constexpr int kRows = 8, kN = 30, kK = 5;
  const auto x = random(kRows * 32, -1, 1, 6);
  std::vector<int32_t> places(32), found(kRows * kK);
  std::iota(places.begin(), places.end(), 0);
  std::vector<float> value(kRows * kK);
  auto in = x;
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch b, out, out_index;
    auto x = load<float>(pipe, b, a[0], kRows * 32);
    pipe.InitBuffer(out, kRows * kK * 4);
    pipe.InitBuffer(out_index, kRows * kK * 4);
    auto y = out.Get<float>();
    auto p = out_index.Get<int32_t>();
    TopK<float, false, false, false, TopKMode::TOPK_NSMALL>(y, p, x, LocalTensor<int32_t>(),
                                                            LocalTensor<bool>(), kK, TopkTiling{},
                                                            TopKInfo{kRows, 32, kN}, true);
    store(a[1], y, kRows * kK);
    store(a[2], p, kRows * kK);
  })
      .arg(in, "x")
      .arg(value, "value")
      .arg(found, "found")
      .clean();
  expect_top_k(x, places, value, found, kRows, 32, kN, kK, kK, kK, true, false);
}

TEST(TopK, NanComesFirstAndRowsMayBeOver) {
  auto x = random(64, -1, 1, 7);
  x[9] = std::numeric_limits<float>::quiet_NaN();
  x[3] = std::numeric_limits<float>::infinity();
  std::vector<uint8_t> over(32);
  over[1] = 1;
  std::vector<float> value(16);
  std::vector<int32_t> found(16);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, finish, out, out_index;
    auto x = load<float>(pipe, in, a[0], 64);
    auto f = load<uint8_t>(pipe, finish, a[1], 32).ReinterpretCast<bool>();
    pipe.InitBuffer(out, 64);
    pipe.InitBuffer(out_index, 64);
    auto y = out.Get<float>();
    auto p = out_index.Get<int32_t>();
    TopK<float, false, true>(y, p, x, LocalTensor<int32_t>(), f, 8, TopkTiling{}, TopKInfo{2, 32, 32});
    store(a[2], y, 16);
    store(a[3], p, 16);
  })
      .arg(x, "x")
      .arg(over, "over")
      .arg(value, "value")
      .arg(found, "found")
      .clean();
  EXPECT_TRUE(std::isnan(value[0]));
  EXPECT_EQ(found[0], 9);
  EXPECT_EQ(found[1], 3);
  for (int j = 8; j < 16; ++j) EXPECT_EQ(found[j], 32);
}

TEST(TopK, ShapesThatItDoesNotTakeAreRefused) {
  struct Case {
    TopKInfo info;
    int k;
    const char* text;
  };
  for (const Case& c :
       {Case{{1, 40, 40}, 4, "inner 40 must be a multiple of 32"},
        Case{{1, 64, 80}, 4, "n 80 must be from 1 to inner, 64"},
        Case{{1, 64, 10}, 11, "k 11 must be from 1 to n, 10"}, Case{{0, 32, 32}, 4, "outter 0"}}) {
    std::vector<float> x(64);
    auto l = launcher([&](void* const* a) {
      TPipe pipe;
      Scratch in, out, out_index;
      auto x = load<float>(pipe, in, a[0], 64);
      pipe.InitBuffer(out, 256);
      pipe.InitBuffer(out_index, 256);
      TopK<float>(out.Get<float>(), out_index.Get<int32_t>(), x, LocalTensor<int32_t>(), LocalTensor<bool>(),
                  c.k, TopkTiling{}, c.info);
    });
    const Outcome o = l.arg(x, "x").run();
    find(o, "count", c.text);
  }
}

TEST(Quantization, OneScale) {
  auto x = random(256, -300, 300, 8);
  std::vector<int8_t> y(256);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, out, tmp;
    auto x = load<float>(pipe, in, a[0], 256);
    pipe.InitBuffer(out, 256);
    pipe.InitBuffer(tmp, 1024);
    AscendQuant<float>(out.Get<int8_t>(), x, tmp.Get<uint8_t>(), 0.5f, 3.0f, 256);
    store(a[1], out.Get<int8_t>(), 256);
  })
      .arg(x, "x")
      .arg(y, "y")
      .clean();
  int saturated = 0;
  for (int i = 0; i < 256; ++i) {
    const double exact = std::clamp(0.5 * x[i] + 3.0, -128.0, 127.0);
    // Two roundings in half of at most 2^-4 each before that to an integer.
    ASSERT_NEAR(y[i], exact, 0.5 + 0.2) << x[i];
    saturated += y[i] == -128 || y[i] == 127;
  }
  EXPECT_GT(saturated, 5);
}

TEST(Quantization, AScaleForEachChannel) {
  auto x = random<half>(4 * 32, -4, 4, 9), scale = random<half>(32, 1, 8, 10),
       offset = random<half>(32, -9, 9, 11);
  std::vector<int8_t> y(128);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, s, o, out;
    auto x = load<half>(pipe, in, a[0], 128);
    auto scale = load<half>(pipe, s, a[1], 32);
    auto offset = load<half>(pipe, o, a[2], 32);
    pipe.InitBuffer(out, 128);
    AscendQuant<half>(out.Get<int8_t>(), x, scale, offset, 32, 32, 128);
    store(a[3], out.Get<int8_t>(), 128);
  })
      .arg(x, "x")
      .arg(scale, "scale")
      .arg(offset, "offset")
      .arg(y, "y")
      .clean();
  for (int i = 0; i < 128; ++i)
    ASSERT_NEAR(y[i], double(float(x[i])) * double(float(scale[i % 32])) + double(float(offset[i % 32])),
                0.55);
}

TEST(Quantization, Dequant) {
  constexpr int kRows = 3, kCols = 24, kReal = 20;
  std::vector<int32_t> x(kRows * kCols);
  for (int i = 0; i < kRows * kCols; ++i) x[i] = (i * 7919 % 4001 - 2000) * 17;
  std::vector<uint64_t> scale(kCols);
  for (int j = 0; j < kCols; ++j) {
    const float s = 0.001f * static_cast<float>(j + 1);
    std::memcpy(&scale[j], &s, 4);
    scale[j] |= uint64_t{7} << 40;  // flags that it does not use
  }
  std::vector<half> y(kRows * 32);
  std::vector<float> z(kRows * kCols);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, s, out, plain;
    auto x = load<int32_t>(pipe, in, a[0], kRows * kCols);
    auto scale = load<uint64_t>(pipe, s, a[1], kCols);
    pipe.InitBuffer(out, kRows * 64);
    pipe.InitBuffer(plain, kRows * kCols * 4);
    auto y = out.Get<half>();
    auto z = plain.Get<float>();
    Duplicate(y, half(0), kRows * 32);
    PipeBarrier<PIPE_V>();
    AscendDequant(y, x, scale, DequantParams{kRows, kCols, kReal});
    AscendDequant(z, x, 0.25f, DequantParams{kRows, kCols, kCols});
    store(a[2], y, kRows * 32);
    store(a[3], z, kRows * kCols);
  })
      .arg(x, "x")
      .arg(scale, "scale")
      .arg(y, "y")
      .arg(z, "z")
      .clean();
  for (int r = 0; r < kRows; ++r)
    for (int j = 0; j < kCols; ++j) {
      const double v = x[r * kCols + j];
      ASSERT_EQ(z[r * kCols + j], v / 4);
      // Rows of the result take whole data blocks: 32 elements for 24.
      const double expected = j < kReal ? v * 0.001 * (j + 1) : 0.0;
      ASSERT_NEAR(double(float(y[r * 32 + j])), expected, 1e-3 * std::abs(expected) + 1e-6) << r << " " << j;
    }
}

TEST(GatherMask, BuiltInPatternsBeginWithTheLowestBit) {
  // As they are written in binary, element 0 last: 01, 10, 0001, 0010, 0100, 1000, all.
  const uint32_t bits[8] = {0,          0x55555555, 0xaaaaaaaa, 0x11111111,
                            0x22222222, 0x44444444, 0x88888888, 0xffffffff};
  for (uint8_t pattern = 1; pattern <= 7; ++pattern) {
    auto x = random(128, -1, 1, 12);
    auto h = random<half>(256, -1, 1, 13);
    std::vector<float> y(128);
    std::vector<half> z(256);
    std::vector<uint32_t> kept(16);
    launcher([&](void* const* a) {
      TPipe pipe;
      Scratch in, in2, out, out2, n;
      auto x = load<float>(pipe, in, a[0], 128);
      auto h = load<half>(pipe, in2, a[1], 256);
      pipe.InitBuffer(out, 512);
      pipe.InitBuffer(out2, 512);
      pipe.InitBuffer(n, 64);
      Duplicate(out.Get<float>(), 9.0f, 128);
      Duplicate(out2.Get<half>(), half(9), 256);
      Duplicate(n.Get<uint32_t>(), 0u, 16);
      PipeBarrier<PIPE_ALL>();
      uint64_t floats = 0, halves = 0;
      GatherMask(out.Get<float>(), x, pattern, false, 0u, {1, 2, 8, 0}, floats);
      GatherMask(out2.Get<half>(), h, pattern, true, 200u, {1, 1, 8, 0}, halves);
      PipeBarrier<PIPE_ALL>();
      n.Get<uint32_t>().SetValue(0, static_cast<uint32_t>(floats));
      n.Get<uint32_t>().SetValue(1, static_cast<uint32_t>(halves));
      store(a[2], out.Get<float>(), 128);
      store(a[3], out2.Get<half>(), 256);
      store(a[4], n.Get<uint32_t>(), 16);
    })
        .arg(x, "x")
        .arg(h, "h")
        .arg(y, "y")
        .arg(z, "z")
        .arg(kept, "kept")
        .clean();
    size_t at = 0;
    for (int i = 0; i < 128; ++i)
      if ((bits[pattern] >> (i % 32) & 1) != 0) {
        ASSERT_EQ(y[at++], x[i]) << int(pattern);
      }
    EXPECT_EQ(kept[0], at);
    at = 0;
    for (int i = 0; i < 200; ++i)
      if ((bits[pattern] >> (i % 32) & 1) != 0) {
        ASSERT_EQ(float(z[at++]), float(h[i])) << int(pattern);
      }
    EXPECT_EQ(kept[1], at);
  }
}

TEST(GatherMask, PatternsOfTheUsersBeginWithTheLowestBit) {
  // Bits of a comparison select the elements that were compared: both count from the lowest bit.
  auto x = random(64, -1, 1, 14);
  std::vector<float> y(64);
  std::vector<half> z(16), h = random<half>(128, -1, 1, 15);
  std::vector<uint16_t> pattern(16, 0x8000);
  launcher([](void* const* a) {
    TPipe pipe;
    Scratch in, in2, m, p, out, out2;
    auto x = load<float>(pipe, in, a[0], 64);
    auto h = load<half>(pipe, in2, a[1], 128);
    auto pattern = load<uint16_t>(pipe, p, a[2], 16);
    pipe.InitBuffer(m, 32);
    pipe.InitBuffer(out, 256);
    pipe.InitBuffer(out2, 32);
    Duplicate(m.Get<uint16_t>(), static_cast<uint16_t>(0), 16);
    Duplicate(out.Get<float>(), 9.0f, 64);
    Duplicate(out2.Get<half>(), half(9), 16);
    PipeBarrier<PIPE_ALL>();
    CompareScalar(m.Get<uint8_t>(), x, 0.0f, CMPMODE::GT, 64);
    PipeBarrier<PIPE_V>();
    uint64_t count = 0;
    GatherMask(out.Get<float>(), x, m.Get<uint32_t>(), true, 64u, {1, 1, 8, 0}, count);
    GatherMask(out2.Get<half>(), h, pattern, false, 0u, {1, 1, 8, 0}, count);
    ascendc_assert(count == 8, "%d", static_cast<int>(count));
    store(a[3], out.Get<float>(), 64);
    store(a[4], out2.Get<half>(), 16);
  })
      .arg(x, "x")
      .arg(h, "h")
      .arg(pattern, "pattern")
      .arg(y, "y")
      .arg(z, "z")
      .clean();
  size_t at = 0;
  for (int i = 0; i < 64; ++i)
    if (x[i] > 0) {
      ASSERT_EQ(y[at++], x[i]);
    }
  EXPECT_EQ(y[at], 9.0f);
  // 0x8000 is the last of sixteen.
  for (int i = 0; i < 8; ++i) ASSERT_EQ(float(z[i]), float(h[16 * i + 15]));
}

}  // namespace
