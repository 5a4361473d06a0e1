#include "kernels/window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness.h"

namespace atc::kernels {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using aicore::Values;

enum class Tail { None, ScaleRelu, Residual };

struct Case {
  WindowSpec spec;
  DType in = DType::F32, weights = DType::F32, out = DType::F32;
  Tail tail = Tail::None;
  std::string_view soc = "Ascend910B3";
  std::int64_t channels = 0;  ///< residual and result are row-major with this many channels; 0: in blocks
};

struct Problem {
  Memory memory;
  std::vector<Operand> operands;
  WindowSpec spec;
  std::vector<float> expected;
  int out = -1;
};

std::int64_t pixels_in(const WindowSpec& s) { return s.axis[0].in * s.axis[1].in * s.axis[2].in; }
std::int64_t pixels_out(const WindowSpec& s) { return s.axis[0].out * s.axis[1].out * s.axis[2].out; }

/// The windows straight from their definition, in double.
std::vector<double> naive(const WindowSpec& s, const std::vector<float>& x, const std::vector<float>& w,
                          const std::vector<float>& bias) {
  const WindowExtent &ad = s.axis[0], &ah = s.axis[1], &aw = s.axis[2];
  std::vector<double> y;
  auto taps_of = [](const WindowExtent& a, std::int64_t o, bool pad, std::int64_t k) {
    const std::int64_t i = o * a.stride - a.pad_begin + k * a.dilation;
    return pad ? i >= -a.pad_begin && i < a.in + a.pad_end : i >= 0 && i < a.in;
  };
  for (std::int64_t plane = 0; plane < s.batch * s.c1; ++plane)
    for (std::int64_t d = 0; d < ad.out; ++d)
      for (std::int64_t h = 0; h < ah.out; ++h)
        for (std::int64_t v = 0; v < aw.out; ++v)
          for (std::int64_t lane = 0; lane < 16; ++lane) {
            double acc = s.kind == WindowKind::Max ? -std::numeric_limits<double>::infinity() : 0;
            if (s.bias) acc = static_cast<double>(bias[static_cast<std::size_t>(plane % s.c1 * 16 + lane)]);
            std::int64_t counted = 0, tap = 0;
            for (std::int64_t kd = 0; kd < ad.kernel; ++kd)
              for (std::int64_t kh = 0; kh < ah.kernel; ++kh)
                for (std::int64_t kw = 0; kw < aw.kernel; ++kw, ++tap) {
                  counted += taps_of(ad, d, s.include_pad, kd) && taps_of(ah, h, s.include_pad, kh) &&
                             taps_of(aw, v, s.include_pad, kw);
                  if (!taps_of(ad, d, false, kd) || !taps_of(ah, h, false, kh) || !taps_of(aw, v, false, kw))
                    continue;
                  const std::int64_t id = d * ad.stride - ad.pad_begin + kd * ad.dilation;
                  const std::int64_t ih = h * ah.stride - ah.pad_begin + kh * ah.dilation;
                  const std::int64_t iw = v * aw.stride - aw.pad_begin + kw * aw.dilation;
                  const double value = static_cast<double>(x[static_cast<std::size_t>(
                      (((plane * ad.in + id) * ah.in + ih) * aw.in + iw) * 16 + lane)]);
                  if (s.kind == WindowKind::Max)
                    acc = std::isnan(acc) || std::isnan(value) ? std::nan("") : std::max(acc, value);
                  else if (s.kind == WindowKind::Average)
                    acc += value;
                  else
                    acc +=
                        value * static_cast<double>(w[static_cast<std::size_t>(
                                    (plane % s.c1 * (ad.kernel * ah.kernel * aw.kernel) + tap) * 16 + lane)]);
                }
            if (s.kind == WindowKind::Average) acc /= static_cast<double>(std::max<std::int64_t>(counted, 1));
            y.push_back(acc);
          }
  return y;
}

/// Addresses of a whole output tensor in NC1HWC0, or row-major with this many channels.
ConvAddress whole(const WindowSpec& s, std::int64_t channels) {
  if (channels > 0) {
    const std::int64_t plane = pixels_out(s), h = s.axis[2].out;
    return {0, channels * plane, 16 * plane, h * s.axis[1].out, h, 1, plane, 16, channels};
  }
  const std::int64_t h = s.axis[2].out * 16, d = h * s.axis[1].out, c1 = d * s.axis[0].out;
  return {0, c1 * s.c1, c1, d, h, 16, 1};
}

/// Calls f(place in blocks, place in rows) for each element that a row-major tensor of `channels` has.
template <class F>
void for_places(const WindowSpec& s, std::int64_t channels, F f) {
  const std::int64_t plane = pixels_out(s);
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t i = 0; i < plane; ++i)
        f(static_cast<std::size_t>(((n * s.c1 + c / 16) * plane + i) * 16 + c % 16),
          static_cast<std::size_t>((n * channels + c) * plane + i));
}
std::vector<float> in_blocks(const WindowSpec& s, const std::vector<float>& rows, std::int64_t channels) {
  std::vector<float> out(static_cast<std::size_t>(s.batch * s.c1 * pixels_out(s) * 16));
  for_places(s, channels, [&](std::size_t b, std::size_t r) { out[b] = rows[r]; });
  return out;
}
std::vector<float> in_rows(const WindowSpec& s, const std::vector<float>& blocks, std::int64_t channels) {
  std::vector<float> out(static_cast<std::size_t>(s.batch * channels * pixels_out(s)));
  for_places(s, channels, [&](std::size_t b, std::size_t r) { out[r] = blocks[b]; });
  return out;
}

Problem make_problem(const Case& c, std::mt19937& rng) {
  Problem p;
  p.spec = c.spec;
  WindowSpec& s = p.spec;
  const std::int64_t taps = s.axis[0].kernel * s.axis[1].kernel * s.axis[2].kernel;
  const std::int64_t outputs = s.batch * s.c1 * pixels_out(s) * 16;
  auto add = [&](DType dtype, std::int64_t n) {
    const int t = p.memory.add(random_tensor(dtype, {n}, rng));
    p.operands.push_back(p.memory.operand(t, dtype));
    return floats(p.memory, t, dtype);
  };
  const auto x = add(c.in, s.batch * s.c1 * pixels_in(s) * 16);
  std::vector<float> w, bias, scale, shift, rest;
  if (s.kind == WindowKind::Depthwise) w = add(c.weights, s.c1 * taps * 16);
  if (s.bias) bias = add(c.weights, s.c1 * 16);
  std::vector<double> y = naive(s, x, w, bias);

  VectorProgram& program = s.epilogue;
  program = {};
  s.epilogue_operands.clear();
  int value = program.emit(VecOp::Acc, RegType::F32);
  const ConvAddress channel = {0, 0, 16, 0, 0, 0, 1};
  if (c.tail == Tail::ScaleRelu) {
    scale = add(DType::F16, s.c1 * 16);
    shift = add(DType::F32, 1);
    s.epilogue_operands = {channel, {}};
    const int scaled = program.emit(VecOp::Mul, RegType::F32, value, program.load(0, RegType::F32));
    const int shifted = program.emit(VecOp::Add, RegType::F32, scaled, program.load(1, RegType::F32));
    value = program.emit(VecOp::Relu, RegType::F32, shifted);
  } else if (c.tail == Tail::Residual) {
    rest = add(c.in, c.channels > 0 ? s.batch * c.channels * pixels_out(s) : outputs);
    if (c.channels > 0) rest = in_blocks(s, rest, c.channels);
    s.epilogue_operands = {whole(s, c.channels)};
    value = program.emit(VecOp::Add, RegType::F32, value, program.load(0, RegType::F32));
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t lane =
        i / static_cast<std::size_t>(pixels_out(s) * 16) % static_cast<std::size_t>(s.c1) * 16 + i % 16;
    if (c.tail == Tail::ScaleRelu)
      y[i] = std::max(0.0, y[i] * static_cast<double>(scale[lane]) + static_cast<double>(shift[0]));
    if (c.tail == Tail::Residual) y[i] += static_cast<double>(rest[i]);
    p.expected.push_back(static_cast<float>(y[i]));
  }
  const int k = static_cast<int>(s.epilogue_operands.size());
  program.store(k, RegType::F32, value);
  s.epilogue_operands.push_back(whole(s, c.channels));
  if (c.channels > 0) p.expected = in_rows(s, p.expected, c.channels);
  p.out = p.memory.add(p.expected.size() * static_cast<std::size_t>(bit_width(c.out)) / 8);
  p.operands.push_back(p.memory.operand(p.out, c.out, true));
  return p;
}

std::string name_of(const WindowSpec& s) {
  std::string out =
      "kind " + std::to_string(static_cast<int>(s.kind)) + " of " + to_string(Dims{s.batch, s.c1});
  for (const WindowExtent& x : s.axis)
    out += " [" + to_string(Dims{x.in, x.out, x.kernel, x.stride, x.dilation, x.pad_begin, x.pad_end}) + "]";
  return out;
}

void expect_close(const Problem& p, DType out, const std::string& what) {
  const std::vector<float> got = floats(p.memory, p.out, out);
  const double relative = out == DType::F32 ? 1e-5 : out == DType::F16 ? 1e-3 : 8e-3;
  ASSERT_EQ(got.size(), p.expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double e = static_cast<double>(p.expected[i]), g = static_cast<double>(got[i]);
    if (std::isnan(e) || std::isinf(e)) {
      ASSERT_TRUE(std::isnan(e) ? std::isnan(g) : e == g) << what << " at " << i << ": " << g << " for " << e;
      continue;
    }
    ASSERT_NEAR(g, e, relative * (4 + std::fabs(e))) << what << " at " << i;
  }
}

void expect_windows(const Case& c, std::mt19937& rng) {
  Problem p = make_problem(c, rng);
  auto task = make_window(p.spec, p.operands, chip(c.soc));
  ASSERT_TRUE(task.ok()) << task.status().to_string() << " " << name_of(c.spec);
  ASSERT_EQ(check_modes(prepare_window, *task, chip(c.soc), p.memory), "") << name_of(c.spec);
  expect_close(p, c.out, name_of(c.spec));
}

WindowExtent random_extent(std::mt19937& rng, std::int64_t most) {
  auto pick = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  WindowExtent x;
  x.in = pick(1, most);
  x.kernel = pick(1, 5);
  x.stride = pick(1, 3);
  x.dilation = rng() % 3 == 0 ? pick(1, 3) : 1;
  x.pad_begin = pick(0, x.kernel - 1);
  x.pad_end = pick(0, x.kernel - 1);
  const std::int64_t room = x.in + x.pad_begin + x.pad_end - (x.kernel - 1) * x.dilation - 1;
  if (room < 0) {
    x.kernel = x.dilation = 1;
    x.pad_begin = x.pad_end = 0;
    x.out = (x.in - 1) / x.stride + 1;
    return x;
  }
  x.out = rng() % 2 == 0 ? room / x.stride + 1 : (room + x.stride - 1) / x.stride + 1;  // ceil_mode
  if ((x.out - 1) * x.stride >= x.in + x.pad_begin) --x.out;
  return x;
}

constexpr DType kStorage[] = {DType::F32, DType::F16, DType::BF16};

TEST(Window, RandomShapes) {
  std::mt19937 rng(1);
  for (int i = 0; i < 240; ++i) {
    Case c;
    c.spec.kind = static_cast<WindowKind>(i % 3);
    c.spec.include_pad = rng() % 2 == 0;
    c.spec.bias = c.spec.kind == WindowKind::Depthwise && rng() % 2 == 0;
    c.spec.batch = 1 + rng() % 2;
    c.spec.c1 = 1 + rng() % 3;
    c.spec.axis[2] = random_extent(rng, i % 4 == 0 ? 70 : 20);
    if (rng() % 6 != 0) c.spec.axis[1] = random_extent(rng, 20);
    if (rng() % 4 == 0) c.spec.axis[0] = random_extent(rng, 6);
    c.in = kStorage[rng() % 3];
    c.weights = kStorage[rng() % 3];
    c.out = kStorage[rng() % 3];
    c.tail = static_cast<Tail>(rng() % 3);
    c.soc = rng() % 2 == 0 ? "Ascend910B3" : "Ascend310";
    if (i % 5 == 0) c.channels = (c.spec.c1 - 1) * 16 + 1 + static_cast<std::int64_t>(rng() % 16);
    ASSERT_NO_FATAL_FAILURE(expect_windows(c, rng)) << i;
  }
}

Case square(WindowKind kind, std::int64_t c1, std::int64_t in, std::int64_t k, std::int64_t stride,
            std::int64_t pad) {
  Case c;
  c.spec.kind = kind;
  c.spec.c1 = c1;
  c.spec.axis[1] = {in, (in + 2 * pad - k) / stride + 1, k, stride, 1, pad, pad};
  c.spec.axis[2] = c.spec.axis[1];
  return c;
}

TEST(Window, LayersOfNetworks) {
  std::mt19937 rng(2);
  Case c = square(WindowKind::Depthwise, 2, 112, 3, 1, 1);
  c.spec.bias = true;
  c.tail = Tail::Residual;
  expect_windows(c, rng);
  expect_windows(square(WindowKind::Depthwise, 6, 56, 5, 2, 2), rng);
  expect_windows(square(WindowKind::Depthwise, 36, 7, 5, 1, 2), rng);
  expect_windows(square(WindowKind::Max, 4, 112, 3, 2, 1), rng);
  expect_windows(square(WindowKind::Average, 8, 14, 14, 14, 0), rng);  // the whole plane
  c = square(WindowKind::Depthwise, 2, 400, 3, 1, 1);
  c.in = c.weights = c.out = DType::F16;
  c.tail = Tail::ScaleRelu;
  expect_windows(c, rng);
  // Rows that do not fit in UB are cut.
  c = square(WindowKind::Max, 1, 8, 2, 2, 0);
  c.spec.axis[2] = {5000, 5000, 3, 1, 1, 1, 1};
  expect_windows(c, rng);
}

TEST(Window, NaNAndInfinityPassThroughMax) {
  std::mt19937 rng(3);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    Case c = square(WindowKind::Max, 1, 60, 3, 1, 1);
    Problem p = make_problem(c, rng);
    for (std::size_t i = 0; i < 2000; i += 7) p.memory.as<float>(0)[i] = value;
    const auto x = p.memory.as<float>(0);
    const std::vector<double> y = naive(p.spec, {x.begin(), x.end()}, {}, {});
    p.expected.assign(y.begin(), y.end());
    auto task = make_window(p.spec, p.operands, chip());
    ASSERT_TRUE(task.ok());
    ASSERT_EQ(check_modes(prepare_window, *task, chip(), p.memory), "");
    expect_close(p, DType::F32, "max with " + std::to_string(value));
  }
}

TEST(Window, HostLoopsAgree) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "no AVX2 here";
  std::mt19937 rng(4);
  for (int i = 0; i < 200; ++i) {
    aicore::WindowRow row;
    row.kernel = 1 + rng() % 5;
    row.stride = 1 + rng() % 3;
    row.dilation = 1 + rng() % 2;
    row.out = 1 + rng() % 30;
    row.tap_rows = 1 + rng() % 3;
    const std::int64_t span = (row.out - 1) * row.stride + (row.kernel - 1) * row.dilation + 1;
    row.low = static_cast<std::int64_t>(rng() % 2);
    row.high = span - static_cast<std::int64_t>(rng() % 2);
    const Tensor x = random_tensor(DType::F32, {3, span, 16}, rng),
                 w = random_tensor(DType::F32, {3, row.kernel, 16}, rng);
    std::vector<const float*> taps, weights;
    for (std::int64_t t = 0; t < row.tap_rows; ++t) {
      taps.push_back(x.as<float>().data() + t * span * 16);
      weights.push_back(w.as<float>().data() + t * row.kernel * 16);
    }
    const float start[16] = {};
    const bool resumes = i % 2 == 1;
    row.taps = taps.data();
    row.weights = weights.data();
    std::vector<float> a(static_cast<std::size_t>(row.out * 16)), b(a);
    auto run = [&](const aicore::WindowTable& table, std::vector<float>& out, int kind) {
      std::fill(out.begin(), out.end(), 0.25f);
      row.dst = out.data();
      row.start = resumes ? out.data() : start;
      row.start_step = resumes ? 16 : 0;
      (kind == 0 ? table.max : kind == 1 ? table.sum : table.depthwise)(row);
      std::vector<float> divisors(static_cast<std::size_t>(row.out), 3.0f);
      table.divide(out.data(), divisors.data(), row.out);
    };
    for (int kind = 0; kind < 3; ++kind) {
      run(aicore::window_table_generic(), a, kind);
      run(aicore::window_table_avx2(), b, kind);
      for (std::size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 1e-5f);
    }
  }
}

TEST(Window, RefusesWhatDoesNotFit) {
  std::mt19937 rng(5);
  Case c = square(WindowKind::Depthwise, 2, 20, 3, 1, 1);
  c.spec.bias = true;
  const Problem p = make_problem(c, rng);
  auto status = [&](auto change) {
    WindowSpec spec = p.spec;
    std::vector<Operand> operands = p.operands;
    change(spec, operands);
    return make_window(spec, operands, chip()).status().to_string();
  };
  EXPECT_EQ(status([](auto&, auto&) {}), "");
  EXPECT_NE(status([](auto& s, auto&) { s.axis[1].in = 21; }).find("input is smaller"), std::string::npos);
  EXPECT_NE(status([](auto& s, auto&) { s.c1 = INT64_MAX; }).find("out of range"), std::string::npos);
  EXPECT_NE(status([](auto& s, auto&) { s.axis[2].kernel = 4; }).find("fewer weights"), std::string::npos);
  EXPECT_NE(status([](auto& s, auto&) { s.axis[2].stride = 0; }).find("out of range"), std::string::npos);
  EXPECT_NE(status([](auto& s, auto&) { s.axis[1].out = 21; }).find("smaller than its addresses"),
            std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[0].dtype = DType::I32; }).find("is not f32, f16 or bf16"),
            std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[2].bytes -= 4; }).find("bias is smaller"), std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o.back().output = false; }).find("writes to an input"),
            std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o.pop_back(); }).find("operand count"), std::string::npos);
  EXPECT_NE(status([](auto& s, auto&) { s.epilogue.code.back().a = 7; }).find("not assigned"),
            std::string::npos);
  soc::Chip tiny = chip();
  tiny.ub = 512;
  EXPECT_NE(make_window(p.spec, p.operands, tiny).status().to_string().find("no room for a window"),
            std::string::npos);
}

// A window larger than UB is cut into parts: whatever kernel gets a tile on every chip.
TEST(Window, EveryKernelHasATile) {
  std::mt19937 rng(8);
  for (const char* soc : {"Ascend310", "Ascend310P3", "Ascend910B3"})
    for (const WindowKind kind : {WindowKind::Max, WindowKind::Average, WindowKind::Depthwise})
      for (std::int64_t k = 1; k <= 61; k += 10)
        for (const DType dtype : {DType::F32, DType::F16}) {
          Case c = square(kind, 1, k + 2, k, 1, 0);
          c.in = dtype;
          const Problem p = make_problem(c, rng);
          const auto task = make_window(p.spec, p.operands, chip(soc));
          EXPECT_TRUE(task.ok()) << soc << " " << k << ": " << task.status().to_string();
        }
}

TEST(Window, RangeOfExtents) {
  const std::int64_t large[] = {45, 50}, ones[] = {1, 1}, pads[] = {3, -3};
  EXPECT_TRUE(window_in_range(large, ones, ones, pads));
  const std::int64_t huge[] = {INT64_MAX, INT64_MAX}, many[] = {1 << 13, 1 << 13};
  EXPECT_FALSE(window_in_range(huge, ones, ones, pads));
  EXPECT_FALSE(window_in_range(many, ones, ones, pads));
  EXPECT_FALSE(window_in_range(large, huge, ones, pads));
  EXPECT_FALSE(window_in_range(large, ones, huge, pads));
  EXPECT_FALSE(window_in_range(large, ones, ones, huge));
}

/// A chip whose UB is small, so that small windows are cut.
soc::Chip small_chip(std::int64_t ub) {
  soc::Chip c = chip("Ascend310P3");
  c.ub = ub;
  return c;
}

void expect_cut_windows(const Case& c, std::mt19937& rng, std::int64_t ub) {
  const soc::Chip small = small_chip(ub);
  Problem p = make_problem(c, rng);
  auto task = make_window(p.spec, p.operands, small);
  ASSERT_TRUE(task.ok()) << task.status().to_string() << " " << name_of(c.spec);
  ASSERT_EQ(check_modes(prepare_window, *task, small, p.memory), "") << name_of(c.spec);
  expect_close(p, c.out, name_of(c.spec));
}

TEST(Window, PartsOfWindows) {
  std::mt19937 rng(9);
  int i = 0;
  for (const std::int64_t ub : {12 * 1024, 20 * 1024, 32 * 1024})
    for (int repeat = 0; repeat < 12; ++repeat, ++i) {
      Case c = square(static_cast<WindowKind>(i % 3), 1 + i % 3, 20 + i % 5, 7 + i % 6, 1 + i % 2, 3 + i % 3);
      c.spec.include_pad = i % 2 == 0;
      c.spec.bias = c.spec.kind == WindowKind::Depthwise && i % 4 < 2;
      if (i % 5 == 0) c.spec.axis[0] = {5, 4, 3, 1, 1, 1, 0};
      if (i % 7 == 0) {  // dilated, and partial windows behind the end as ceil_mode has them
        c.spec.axis[1] = {24, 7, 6, 3, 2, 2, 3};
      }
      c.in = kStorage[rng() % 3];
      c.weights = kStorage[rng() % 3];
      c.tail = static_cast<Tail>(rng() % 3);
      ASSERT_NO_FATAL_FAILURE(expect_cut_windows(c, rng, ub)) << i;
    }
}

// A row of taps does not fit either.
TEST(Window, PartsOfRows) {
  std::mt19937 rng(10);
  for (const WindowKind kind : {WindowKind::Max, WindowKind::Average, WindowKind::Depthwise}) {
    Case c = square(kind, 2, 3, 1, 1, 0);
    c.spec.axis[2] = {700, 470, 250, 1, 1, 9, 10};
    ASSERT_NO_FATAL_FAILURE(expect_cut_windows(c, rng, 16 * 1024));
  }
}

TEST(Window, LargeWindowsOfNetworks) {
  std::mt19937 rng(11);
  for (const char* soc : {"Ascend310", "Ascend310P3", "Ascend910B3"}) {
    Case c = square(WindowKind::Depthwise, 1, 32, 31, 1, 15);
    c.spec.bias = true;
    c.soc = soc;
    c.in = c.weights = c.out = DType::F16;
    ASSERT_NO_FATAL_FAILURE(expect_windows(c, rng)) << soc;
    c = {};
    c.soc = soc;
    c.spec.kind = WindowKind::Average;
    c.spec.axis[1] = {50, 6, 45, 1, 1, 0, 0};
    c.spec.axis[2] = {55, 6, 50, 1, 1, 0, 0};
    ASSERT_NO_FATAL_FAILURE(expect_windows(c, rng)) << soc;
    c.spec.kind = WindowKind::Max;
    ASSERT_NO_FATAL_FAILURE(expect_windows(c, rng)) << soc;
  }
}

TEST(Window, CorruptParametersNeverCrash) {
  std::mt19937 rng(6);
  for (const Tail tail : {Tail::None, Tail::ScaleRelu, Tail::Residual}) {
    Case c = square(tail == Tail::None ? WindowKind::Average : WindowKind::Depthwise, 2, 20, 3, 1, 1);
    c.in = tail == Tail::Residual ? DType::F16 : DType::F32;
    c.tail = tail;
    const Problem p = make_problem(c, rng);
    auto task = make_window(p.spec, p.operands, chip());
    ASSERT_TRUE(task.ok());
    EXPECT_GT(fuzz_params(prepare_window, *task, chip(), p.memory, 2000, 7), 400);
  }
}

TEST(Window, TileBeyondUbIsAnInternalError) {
  std::mt19937 rng(8);
  Problem p = make_problem(square(WindowKind::Max, 1, 100, 3, 1, 1), rng);
  auto task = make_window(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  // kind, include_pad, bias, batch, c1, in_batch, 3 x 7 of the axes, planes, D, H
  ASSERT_LT(task->params[29], 100);
  task->params[29] = 100;
  task->block_tiles = {0, 1};
  EXPECT_THROW(run_task(prepare_window, *task, chip(), p.memory, Values::Fast), InternalError);
}

TEST(Window, BlocksDecideWhatIsWritten) {
  std::mt19937 rng(9);
  Problem p = make_problem(square(WindowKind::Depthwise, 8, 56, 3, 1, 1), rng);
  auto task = make_window(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->blocks(), chip().vector_blocks());
  EXPECT_EQ(task->macs, 8 * 16 * 56 * 56 * 9);
  Memory whole_run = p.memory;
  ASSERT_TRUE(run_task(prepare_window, *task, chip(), whole_run, Values::Fast).status.ok());
  task->block_tiles.back() -= 1;
  ASSERT_TRUE(run_task(prepare_window, *task, chip(), p.memory, Values::Fast).status.ok());
  EXPECT_FALSE(p.memory == whole_run);
}

}  // namespace
}  // namespace atc::kernels
