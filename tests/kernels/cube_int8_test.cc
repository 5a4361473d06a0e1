// int8 products of the cube: exact sums, requantized by the epilogue.
#include <gtest/gtest.h>

#include <cmath>

#include "atc/base/math.h"
#include "harness.h"
#include "kernels/cube_conv.h"
#include "kernels/cube_conv_tiling.h"
#include "kernels/cube_matmul.h"

namespace atc::kernels::testing {
namespace {

using Layout = MatMulSpec::BLayout;

Tensor random_int8(Dims dims, std::mt19937& rng) {
  std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
  // The ends of the range come often.
  for (double& v : values)
    v = rng() % 8 == 0 ? (rng() % 2 == 0 ? -128 : 127) : static_cast<int>(rng() % 256) - 128;
  return from_doubles(DType::I8, std::move(dims), values);
}

// Round((acc + bias) * scale) + zero, saturated; bias and scale by channel. Operands: bias, scale, output.
VectorProgram requantize(double zero, double least, double largest) {
  VectorProgram e;
  const int acc = e.emit(VecOp::Acc, RegType::I32);
  const int sum = e.emit(VecOp::Add, RegType::I32, acc, e.load(0, RegType::I32));
  const int wide = e.emit(VecOp::Cast, RegType::F32, sum);
  const int scaled = e.emit(VecOp::Mul, RegType::F32, wide, e.load(1, RegType::F32));
  const int rounded = e.emit(VecOp::RoundEven, RegType::F32, scaled);
  const int moved = e.emit(VecOp::Add, RegType::F32, rounded, e.constant(RegType::F32, zero));
  const int low = e.emit(VecOp::Max, RegType::F32, moved, e.constant(RegType::F32, least));
  const int high = e.emit(VecOp::Min, RegType::F32, low, e.constant(RegType::F32, largest));
  e.store(2, RegType::I32, e.emit(VecOp::Cast, RegType::I32, high));
  return e;
}

int requantized(std::int64_t sum, double bias, float scale, int zero, int least, int largest) {
  const float scaled = static_cast<float>(sum + static_cast<std::int64_t>(bias)) * scale;
  return std::clamp(static_cast<int>(std::nearbyint(scaled)) + zero, least, largest);
}

struct MatMul {
  MatMulSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  Tensor a, b, bias, scale;
  std::int64_t batch;
  DType out_type;
  int out;
};

constexpr int kZero = 7;

MatMul make_matmul(std::int64_t batch, std::int64_t m, std::int64_t k, std::int64_t n, Layout layout,
                   DType out, std::uint32_t seed) {
  std::mt19937 rng(seed);
  MatMul p;
  p.batch = batch;
  p.out_type = out;
  p.a = random_int8({batch, m, k}, rng);
  p.b = random_int8({batch, k, n}, rng);
  std::vector<double> bias(static_cast<std::size_t>(n)), scale(bias.size());
  for (double& v : bias) v = static_cast<double>(rng() % 20001) - 10000;
  for (double& v : scale)
    v = (1.0 + static_cast<double>(rng() % 8)) / 128 / std::sqrt(static_cast<double>(k));
  p.bias = from_doubles(DType::I32, {n}, bias);
  p.scale = from_doubles(DType::F32, {n}, scale);
  const auto bv = p.b.as<std::int8_t>();
  const std::int64_t k1 = ceil_div(k, 32), n1 = ceil_div(n, 16);
  std::vector<double> stored(bv.begin(), bv.end());
  Dims dims = {batch, k, n};
  MatMulSpec& s = p.spec;
  s.b = {0, {k * n}, n, 0};
  if (layout == Layout::Transposed) {
    s.b.row_stride = k;
    dims = {batch, n, k};
  } else if (layout == Layout::Panels) {
    s.b = {0, {n1 * k1 * 512}, 0, 0};
    dims = {batch, n1, k1, 512};
    stored.assign(static_cast<std::size_t>(element_count(dims)), 0);
  }
  for (std::int64_t i = 0; i < batch; ++i)
    for (std::int64_t x = 0; x < k; ++x)
      for (std::int64_t y = 0; y < n; ++y) {
        const double v = bv[static_cast<std::size_t>((i * k + x) * n + y)];
        const std::int64_t at = layout == Layout::Matrix       ? (i * k + x) * n + y
                                : layout == Layout::Transposed ? (i * n + y) * k + x
                                                               : ((i * n1 + y / 16) * k1 + x / 32) * 512 +
                                                                     x % 32 / 2 * 32 + y % 16 * 2 + x % 2;
        stored[static_cast<std::size_t>(at)] = v;
      }
  s.batch = {batch};
  s.m = m;
  s.k = k;
  s.n = n;
  s.b_layout = layout;
  s.a = {0, {m * k}, k, 0};
  s.epilogue_operands = {{0, {0}, 0, 1}, {0, {0}, 0, 1}, {0, {m * n}, n, 1}};
  const bool u8 = out == DType::U8;
  s.epilogue = requantize(kZero, u8 ? 0 : -128, u8 ? 255 : 127);
  p.operands = {p.memory.operand(p.memory.add(p.a), DType::I8),
                p.memory.operand(p.memory.add(from_doubles(DType::I8, dims, stored)), DType::I8),
                p.memory.operand(p.memory.add(p.bias), DType::I32),
                p.memory.operand(p.memory.add(p.scale), DType::F32)};
  p.out = p.memory.add(static_cast<std::size_t>(batch * m * n));
  p.operands.push_back(p.memory.operand(p.out, out, true));
  return p;
}

int byte_at(const Memory& memory, int tensor, std::int64_t i, DType dtype) {
  const std::byte b = memory[tensor][static_cast<std::size_t>(i)];
  return dtype == DType::U8 ? std::to_integer<int>(b) : static_cast<std::int8_t>(std::to_integer<int>(b));
}

void expect_exact(const MatMul& p) {
  const auto a = p.a.as<std::int8_t>(), b = p.b.as<std::int8_t>();
  const auto bias = p.bias.as<std::int32_t>();
  const auto scale = p.scale.as<float>();
  const std::int64_t m = p.spec.m, k = p.spec.k, n = p.spec.n;
  const bool u8 = p.out_type == DType::U8;
  for (std::int64_t i = 0; i < p.batch; ++i)
    for (std::int64_t x = 0; x < m; ++x)
      for (std::int64_t y = 0; y < n; ++y) {
        std::int64_t sum = 0;
        for (std::int64_t z = 0; z < k; ++z)
          sum += a[static_cast<std::size_t>((i * m + x) * k + z)] *
                 b[static_cast<std::size_t>((i * k + z) * n + y)];
        const auto c = static_cast<std::size_t>(y);
        ASSERT_EQ(byte_at(p.memory, p.out, (i * m + x) * n + y, p.out_type),
                  requantized(sum, bias[c], scale[c], kZero, u8 ? 0 : -128, u8 ? 255 : 127))
            << i << "," << x << "," << y;
      }
}

TEST(CubeInt8, MatMulIsExactInEveryLayoutAndMode) {
  struct Size {
    std::int64_t batch, m, k, n;
  };
  std::uint32_t seed = 1;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Size s : {Size{1, 1, 32, 16}, Size{1, 1, 71, 130}, Size{2, 33, 40, 50}, Size{1, 64, 64, 64},
                         Size{1, 97, 301, 31}})
      for (Layout layout : {Layout::Panels, Layout::Matrix, Layout::Transposed})
        for (DType out : {DType::I8, DType::U8}) {
          SCOPED_TRACE(seed);
          MatMul p = make_matmul(s.batch, s.m, s.k, s.n, layout, out, seed++);
          const auto task = make_matmul_task(p.spec, p.operands, chip(soc));
          ASSERT_TRUE(task.ok()) << task.status().to_string();
          ASSERT_EQ(check_modes(prepare_cube_matmul, *task, chip(soc), p.memory), "");
          expect_exact(p);
          if (::testing::Test::HasFatalFailure()) return;
        }
}

TEST(CubeInt8, LongReductionsDoNotSaturate) {
  MatMul p = make_matmul(1, 3, 60000, 18, Layout::Panels, DType::I8, 5);
  const auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_TRUE(run_task(*task, chip(), p.memory, aicore::Values::Fast).status.ok());
  expect_exact(p);
}

TEST(CubeInt8, RunsAtTwiceTheRateOfHalves) {
  MatMul p = make_matmul(1, 512, 1024, 512, Layout::Panels, DType::I8, 5);
  const auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  auto busy = [](const RunResult& r) {
    aicore::Cycle sum = 0;
    for (const aicore::Stats& s : r.blocks) sum += s.busy[static_cast<std::size_t>(aicore::Pipe::M)];
    return static_cast<double>(sum);
  };
  const double cycles = busy(run_task(*task, chip(), p.memory, aicore::Values::None, true));
  const double steps = 512.0 * 1024 * 512 / (16 * 32 * 16);
  EXPECT_GE(cycles, steps);
  EXPECT_LT(cycles, 1.3 * steps);
}

TEST(CubeInt8, RefusesMixedOperandsAndFloatAccumulators) {
  MatMul p = make_matmul(1, 16, 32, 16, Layout::Panels, DType::I8, 6);
  const auto good = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(good.ok());
  ASSERT_TRUE(prepare_cube_matmul(*good, chip()).ok());
  Task mixed = *good;
  mixed.operands[1].dtype = DType::U8;
  EXPECT_FALSE(prepare_cube_matmul(mixed, chip()).ok());
  Task both_u8 = mixed;
  both_u8.operands[0].dtype = DType::U8;
  EXPECT_FALSE(prepare_cube_matmul(both_u8, chip()).ok());
  MatMul f = make_matmul(1, 16, 32, 16, Layout::Panels, DType::I8, 6);
  f.spec.epilogue = {};
  const int acc = f.spec.epilogue.emit(VecOp::Acc, RegType::F32);
  f.spec.epilogue.store(2, RegType::I32, f.spec.epilogue.emit(VecOp::Cast, RegType::I32, acc));
  const auto task = make_matmul_task(f.spec, f.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_FALSE(prepare_cube_matmul(*task, chip()).ok());
}

TEST(CubeInt8, FuzzedMatMulParametersNeverEscape) {
  MatMul p = make_matmul(2, 33, 40, 50, Layout::Matrix, DType::U8, 8);
  const auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_cube_matmul, *task, chip(), p.memory, 400, 3), 40);
}

// Convolutions ----------------------------------------------------------------------------------------

struct Geometry {
  std::int64_t batch, groups, cin, cout;  // channels of one group; multiples of 32 when groups > 1
  std::array<std::int64_t, 3> in, kernel, stride, dilation, pad;
  int zero = 0;       // of the data: what its padding holds
  bool wide = false;  // the epilogue has an f32 operand of the output's size too: 16 lanes at a time
};

struct Conv {
  Geometry g;
  std::array<std::int64_t, 3> out{};
  ConvSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  Tensor x, w, bias, scale;
  int result = 0, wide = 0;
};

Conv make_conv(const Geometry& g, std::uint32_t seed) {
  std::mt19937 rng(seed);
  Conv p;
  p.g = g;
  const std::int64_t c = g.groups * g.cin, oc = g.groups * g.cout;
  const std::int64_t c1 = ceil_div(c, 32), oc16 = ceil_div(oc, 16), oc32 = ceil_div(oc, 32);
  const std::int64_t taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  for (std::size_t i = 0; i < 3; ++i)
    p.out[i] = (g.in[i] + 2 * g.pad[i] - (g.kernel[i] - 1) * g.dilation[i] - 1) / g.stride[i] + 1;
  p.x = random_int8({g.batch, c, g.in[0], g.in[1], g.in[2]}, rng);
  p.w = random_int8({oc, g.cin, g.kernel[0], g.kernel[1], g.kernel[2]}, rng);
  std::vector<double> bias(static_cast<std::size_t>(oc16 * 16), 0), scale(bias.size(), 0);
  for (double& v : bias) v = static_cast<double>(rng() % 20001) - 10000;
  for (double& v : scale)
    v = (1.0 + static_cast<double>(rng() % 8)) / 128 / std::sqrt(static_cast<double>(g.cin * taps));
  p.bias = from_doubles(DType::I32, {oc16 * 16}, bias);
  p.scale = from_doubles(DType::F32, {oc16 * 16}, scale);

  const auto xv = p.x.as<std::int8_t>(), wv = p.w.as<std::int8_t>();
  const std::int64_t plane = g.in[0] * g.in[1] * g.in[2], out_plane = p.out[0] * p.out[1] * p.out[2];
  // Garbage in the unused lanes of the last block must not matter: weights are zero there.
  std::vector<double> packed_x(static_cast<std::size_t>(g.batch * c1 * plane * 32), 93);
  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t ch = 0; ch < c; ++ch)
      for (std::int64_t i = 0; i < plane; ++i)
        packed_x[static_cast<std::size_t>(((n * c1 + ch / 32) * plane + i) * 32 + ch % 32)] =
            xv[static_cast<std::size_t>((n * c + ch) * plane + i)];
  const std::int64_t k1 = ceil_div(g.cin, 32), n1 = ceil_div(g.cout, 16);
  std::vector<double> packed_w(static_cast<std::size_t>(g.groups * n1 * k1 * taps * 512), 0);
  for (std::int64_t o = 0; o < oc; ++o)
    for (std::int64_t i = 0; i < g.cin; ++i)
      for (std::int64_t t = 0; t < taps; ++t) {
        const std::int64_t panel = o / g.cout * n1 + o % g.cout / 16;
        packed_w[static_cast<std::size_t>(((panel * k1 + i / 32) * taps + t) * 512 + i % 32 / 2 * 32 +
                                          o % g.cout % 16 * 2 + i % 2)] =
            wv[static_cast<std::size_t>((o * g.cin + i) * taps + t)];
      }

  ConvSpec& s = p.spec;
  s.batch = g.batch;
  s.groups = g.groups;
  s.k1 = k1;
  s.k_last = g.cin - (k1 - 1) * 32;
  s.n1 = n1;
  s.taps = taps;
  s.pad = g.zero;
  s.in = g.in;
  s.in_stride = g.stride;
  ConvPhase phase;
  phase.count = p.out;
  for (std::int64_t d = 0, t = 0; d < g.kernel[0]; ++d)
    for (std::int64_t h = 0; h < g.kernel[1]; ++h)
      for (std::int64_t w = 0; w < g.kernel[2]; ++w, ++t)
        phase.taps.push_back(
            {t, {d * g.dilation[0] - g.pad[0], h * g.dilation[1] - g.pad[1], w * g.dilation[2] - g.pad[2]}});
  s.phases = {phase};
  auto blocks = [&](std::int64_t c0, std::int64_t count) {
    return ConvAddress{
        0, count * out_plane * c0, out_plane * c0, p.out[1] * p.out[2] * c0, p.out[2] * c0, c0, 1, c0};
  };
  s.epilogue_operands = {{0, 0, 16, 0, 0, 0, 1}, {0, 0, 16, 0, 0, 0, 1}, blocks(32, oc32)};
  s.epilogue = requantize(kZero, -128, 127);
  p.operands = {
      p.memory.operand(
          p.memory.add(from_doubles(DType::I8, {static_cast<std::int64_t>(packed_x.size())}, packed_x)),
          DType::I8),
      p.memory.operand(
          p.memory.add(from_doubles(DType::I8, {static_cast<std::int64_t>(packed_w.size())}, packed_w)),
          DType::I8),
      p.memory.operand(p.memory.add(p.bias), DType::I32),
      p.memory.operand(p.memory.add(p.scale), DType::F32)};
  p.result = p.memory.add(static_cast<std::size_t>(g.batch * oc32 * out_plane * 32));
  p.operands.push_back(p.memory.operand(p.result, DType::I8, true));
  if (g.wide) {
    s.epilogue_operands.push_back(blocks(16, oc16));
    s.epilogue.store(3, RegType::I32, 0);  // the accumulator itself
    p.wide = p.memory.add(static_cast<std::size_t>(g.batch * oc16 * out_plane * 16 * 4));
    p.operands.push_back(p.memory.operand(p.wide, DType::I32, true));
  }
  return p;
}

std::int64_t sum_of(const Conv& p, std::int64_t n, std::int64_t o, const std::array<std::int64_t, 3>& pos) {
  const Geometry& g = p.g;
  const auto x = p.x.as<std::int8_t>(), w = p.w.as<std::int8_t>();
  std::int64_t sum = 0, tap = 0, k[3];
  const std::int64_t taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  for (k[0] = 0; k[0] < g.kernel[0]; ++k[0])
    for (k[1] = 0; k[1] < g.kernel[1]; ++k[1])
      for (k[2] = 0; k[2] < g.kernel[2]; ++k[2], ++tap) {
        std::int64_t in[3];
        bool inside = true;
        for (std::size_t i = 0; i < 3; ++i) {
          in[i] = pos[i] * g.stride[i] + k[i] * g.dilation[i] - g.pad[i];
          inside = inside && in[i] >= 0 && in[i] < g.in[i];
        }
        for (std::int64_t c = 0; c < g.cin; ++c) {
          const std::int64_t channel = o / g.cout * g.cin + c;
          const std::int64_t at =
              (((n * g.groups * g.cin + channel) * g.in[0] + in[0]) * g.in[1] + in[1]) * g.in[2] + in[2];
          const int value = inside ? x[static_cast<std::size_t>(at)] : g.zero;
          sum += value * w[static_cast<std::size_t>((o * g.cin + c) * taps + tap)];
        }
      }
  return sum;
}

void expect_exact(const Conv& p) {
  const Geometry& g = p.g;
  const auto bias = p.bias.as<std::int32_t>();
  const auto scale = p.scale.as<float>();
  const std::int64_t oc = g.groups * g.cout, plane = p.out[0] * p.out[1] * p.out[2];
  std::array<std::int64_t, 3> at{};
  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t o = 0; o < oc; ++o)
      for (at[0] = 0; at[0] < p.out[0]; ++at[0])
        for (at[1] = 0; at[1] < p.out[1]; ++at[1])
          for (at[2] = 0; at[2] < p.out[2]; ++at[2]) {
            const std::int64_t sum = sum_of(p, n, o, at);
            const std::int64_t pixel = (at[0] * p.out[1] + at[1]) * p.out[2] + at[2];
            const auto c = static_cast<std::size_t>(o);
            ASSERT_EQ(byte_at(p.memory, p.result,
                              ((n * ceil_div(oc, 32) + o / 32) * plane + pixel) * 32 + o % 32, DType::I8),
                      requantized(sum, bias[c], scale[c], kZero, -128, 127))
                << n << "," << o << "," << at[0] << "," << at[1] << "," << at[2];
            if (!g.wide) continue;
            std::int32_t stored = 0;
            std::memcpy(&stored,
                        p.memory[p.wide].data() +
                            (((n * ceil_div(oc, 16) + o / 16) * plane + pixel) * 16 + o % 16) * 4,
                        4);
            ASSERT_EQ(stored, sum);
          }
}

const Geometry kGeometries[] = {
    {1, 1, 3, 16, {1, 9, 11}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, -128},
    {2, 1, 64, 64, {1, 7, 7}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, 5},
    {1, 1, 33, 48, {1, 6, 10}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 17},
    {1, 1, 40, 80, {1, 10, 5}, {1, 3, 2}, {1, 1, 2}, {1, 2, 1}, {0, 2, 1}, -3},
    {1, 2, 32, 32, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, 127},
    {1, 1, 5, 7, {4, 5, 6}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 11},
    {1, 1, 5, 7, {4, 5, 6}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {2, 1, 1}, 0},
    {1, 1, 16, 100, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 9},
    {1, 1, 36, 72, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, 4, true},
};

TEST(CubeInt8, ConvolutionsAreExactInEveryMode) {
  std::uint32_t seed = 1;
  bool pairs = false, single = false;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Geometry& g : kGeometries) {
      SCOPED_TRACE(seed);
      Conv p = make_conv(g, seed++);
      const auto task = make_conv_task(p.spec, p.operands, chip(soc));
      ASSERT_TRUE(task.ok()) << task.status().to_string();
      ConvTiling t;
      ASSERT_TRUE(unpack_conv(*task, t).ok());
      (t.pairs ? pairs : single) = true;
      // Fast leaves what no lane of the result needs; only the result is compared byte by byte.
      Memory literal = p.memory, none = p.memory;
      ASSERT_TRUE(run_task(*task, chip(soc), p.memory, aicore::Values::Fast).status.ok());
      expect_exact(p);
      if (::testing::Test::HasFatalFailure()) return;
      const auto exact = run_task(*task, chip(soc), literal, aicore::Values::Literal, true);
      EXPECT_TRUE(literal == p.memory) << "Fast and Literal differ";
      EXPECT_EQ(run_task(*task, chip(soc), none, aicore::Values::None, true).cycles(), exact.cycles());
    }
  EXPECT_TRUE(pairs && single);
}

TEST(CubeInt8, SmallL1CutsRowsAndTaps) {
  std::uint32_t seed = 40;
  int cut = 0;
  for (const Geometry& g : kGeometries)
    for (const int kib : {48, 24, 12, 8}) {
      Conv p = make_conv(g, seed++);
      soc::Chip small = chip();
      small.l1 = kib * 1024;
      const auto task = make_conv_task(p.spec, p.operands, small);
      if (!task.ok()) continue;
      ConvTiling t;
      ASSERT_TRUE(unpack_conv(*task, t).ok());
      cut += t.part_rows || t.tap_span < t.spec.taps ? 1 : 0;
      ASSERT_TRUE(run_task(*task, small, p.memory, aicore::Values::Fast).status.ok());
      expect_exact(p);
      if (::testing::Test::HasFatalFailure()) return;
    }
  EXPECT_GT(cut, 0);
}

TEST(CubeInt8, PaddingOtherThanZeroIsForIntegersAndBytes) {
  Conv p = make_conv(kGeometries[0], 3);
  p.spec.pad = 200;
  auto task = make_conv_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_FALSE(prepare_cube_conv(*task, chip()).ok());
}

TEST(CubeInt8, FuzzedConvParametersNeverEscape) {
  Conv p = make_conv(kGeometries[3], 8);
  const auto task = make_conv_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_cube_conv, *task, chip(), p.memory, 400, 3), 40);
}

}  // namespace
}  // namespace atc::kernels::testing
