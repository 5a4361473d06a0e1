// Convolutions of up to four channels, whose taps lie side by side in fractals (NC1HWC0_C04).
#include <gtest/gtest.h>

#include <cmath>

#include "atc/base/math.h"
#include "harness.h"
#include "kernels/cube_conv.h"
#include "kernels/cube_conv_tiling.h"

namespace atc::kernels::testing {
namespace {

struct Geometry {
  std::int64_t batch, cin, cout;
  std::array<std::int64_t, 3> in, kernel, stride, dilation, pad;
  int zero = 0;  // what padding holds, of int8 only
};

struct Problem {
  Geometry g;
  DType dtype = DType::F16;
  std::array<std::int64_t, 3> out{};
  ConvSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  std::vector<double> x, w, bias;  // [N][C][D][H][W], [O][I][KD][KH][KW], [O]
  int result = 0;
  bool integer() const { return dtype == DType::I8; }
};

std::vector<double> numbers(DType dtype, std::int64_t count, std::mt19937& rng) {
  std::vector<double> v(static_cast<std::size_t>(count));
  if (dtype == DType::I8) {
    for (double& d : v) d = static_cast<double>(rng() % 256) - 128;
    return v;
  }
  return to_doubles(random_tensor(dtype, {count}, rng, 1.0));
}

/// `lanes` of a pixel: 4, or C0 for the same convolution on NC1HWC0. The result is row-major f32 or i32.
Problem make_problem(const Geometry& g, DType dtype, std::uint32_t seed, bool small = true) {
  std::mt19937 rng(seed);
  Problem p;
  p.g = g;
  p.dtype = dtype;
  const std::int64_t c0 = aicore::cube_lanes(dtype), lanes = small ? 4 : c0, per = c0 / lanes;
  for (std::size_t i = 0; i < 3; ++i)
    p.out[i] = (g.in[i] + 2 * g.pad[i] - (g.kernel[i] - 1) * g.dilation[i] - 1) / g.stride[i] + 1;
  const std::int64_t plane = g.in[0] * g.in[1] * g.in[2], out_plane = p.out[0] * p.out[1] * p.out[2];
  const std::int64_t area = g.kernel[1] * g.kernel[2], taps = g.kernel[0] * area;
  const std::int64_t depth_taps = round_up(area, per), fractals = g.kernel[0] * depth_taps / per;
  const std::int64_t n1 = ceil_div(g.cout, std::int64_t{16});
  p.x = numbers(dtype, g.batch * g.cin * plane, rng);
  p.w = numbers(dtype, g.cout * g.cin * taps, rng);
  p.bias = numbers(dtype, g.cout, rng);

  // Garbage in unused lanes must not matter.
  std::vector<double> packed_x(static_cast<std::size_t>(g.batch * plane * lanes), p.integer() ? 93 : NAN);
  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t c = 0; c < g.cin; ++c)
      for (std::int64_t i = 0; i < plane; ++i)
        packed_x[static_cast<std::size_t>((n * plane + i) * lanes + c)] =
            p.x[static_cast<std::size_t>((n * g.cin + c) * plane + i)];
  std::vector<double> packed_w(static_cast<std::size_t>(n1 * fractals * c0 * 16), 0.0);
  for (std::int64_t o = 0; o < g.cout; ++o)
    for (std::int64_t i = 0; i < g.cin; ++i)
      for (std::int64_t t = 0; t < taps; ++t) {
        const std::int64_t tap = t / area * depth_taps + t % area, k = tap % per * lanes + i;
        const std::int64_t place = p.integer() ? k / 2 * 32 + o % 16 * 2 + k % 2 : k * 16 + o % 16;
        packed_w[static_cast<std::size_t>((o / 16 * fractals + tap / per) * c0 * 16 + place)] =
            p.w[static_cast<std::size_t>((o * g.cin + i) * taps + t)];
      }

  ConvSpec& s = p.spec;
  s.batch = g.batch;
  s.k_last = g.cin;
  s.n1 = n1;
  s.pad = g.zero;
  s.taps = g.kernel[0] * depth_taps;
  s.taps_in_fractal = per;
  s.in = g.in;
  s.in_stride = g.stride;
  ConvPhase phase;
  phase.count = p.out;
  for (std::int64_t d = 0; d < g.kernel[0]; ++d)
    for (std::int64_t h = 0; h < g.kernel[1]; ++h)
      for (std::int64_t w = 0; w < g.kernel[2]; ++w)
        phase.taps.push_back(
            {d * depth_taps + h * g.kernel[2] + w,
             {d * g.dilation[0] - g.pad[0], h * g.dilation[1] - g.pad[1], w * g.dilation[2] - g.pad[2]}});
  s.phases = {phase};
  s.epilogue_operands = {
      {0, 0, 16, 0, 0, 0, 1, 16, g.cout},
      {0, g.cout * out_plane, 16 * out_plane, p.out[1] * p.out[2], p.out[2], 1, out_plane, 16, g.cout}};
  const RegType type = p.integer() ? RegType::I32 : RegType::F32;
  const DType stored = p.integer() ? DType::I32 : DType::F32;
  VectorProgram& e = s.epilogue;
  const int acc = e.emit(VecOp::Acc, type);
  e.store(1, type, e.emit(VecOp::Add, type, acc, e.load(0, type)));
  auto add = [&](DType t, const std::vector<double>& v) {
    return p.memory.operand(p.memory.add(from_doubles(t, {std::ssize(v)}, v)), t);
  };
  p.operands = {add(dtype, packed_x), add(dtype, packed_w), add(stored, p.bias)};
  p.result = p.memory.add(static_cast<std::size_t>(g.batch * g.cout * out_plane * 4));
  p.operands.push_back(p.memory.operand(p.result, stored, true));
  return p;
}

double reference(const Problem& p, std::int64_t n, std::int64_t o, const std::array<std::int64_t, 3>& pos) {
  const Geometry& g = p.g;
  double sum = p.bias[static_cast<std::size_t>(o)];
  const std::int64_t taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  for (std::int64_t t = 0; t < taps; ++t) {
    const std::int64_t k[3] = {t / (g.kernel[1] * g.kernel[2]), t / g.kernel[2] % g.kernel[1],
                               t % g.kernel[2]};
    std::int64_t in[3];
    bool inside = true;
    for (std::size_t i = 0; i < 3; ++i) {
      in[i] = pos[i] * g.stride[i] + k[i] * g.dilation[i] - g.pad[i];
      inside = inside && in[i] >= 0 && in[i] < g.in[i];
    }
    for (std::int64_t c = 0; c < g.cin; ++c) {
      const std::int64_t at = (((n * g.cin + c) * g.in[0] + in[0]) * g.in[1] + in[1]) * g.in[2] + in[2];
      sum += (inside ? p.x[static_cast<std::size_t>(at)] : g.zero) *
             p.w[static_cast<std::size_t>((o * g.cin + c) * taps + t)];
    }
  }
  return sum;
}

void expect_right(const Problem& p, const Memory& memory) {
  const std::int64_t plane = p.out[0] * p.out[1] * p.out[2];
  const double terms = static_cast<double>(p.w.size()) / static_cast<double>(p.g.cout);
  const auto& bytes = memory[p.result];
  for (std::int64_t n = 0; n < p.g.batch; ++n)
    for (std::int64_t o = 0; o < p.g.cout; ++o)
      for (std::int64_t i = 0; i < plane; ++i) {
        const std::array<std::int64_t, 3> pos = {i / (p.out[1] * p.out[2]), i / p.out[2] % p.out[1],
                                                 i % p.out[2]};
        const double want = reference(p, n, o, pos);
        const std::byte* at = bytes.data() + ((n * p.g.cout + o) * plane + i) * 4;
        if (p.integer()) {
          std::int32_t got = 0;
          std::memcpy(&got, at, sizeof got);
          ASSERT_EQ(got, want) << n << "," << o << "," << i;
        } else {
          float got = 0;
          std::memcpy(&got, at, sizeof got);
          ASSERT_NEAR(got, want, 1e-6 * (std::abs(want) + terms)) << n << "," << o << "," << i;
        }
      }
}

/// Values in Fast and Literal mode, and equal cycles of all modes. The cycles of each block.
std::vector<aicore::Cycle> check(Problem& p, const soc::Chip& chip, ConvTiling* tiling = nullptr) {
  const auto task = make_conv_task(p.spec, p.operands, chip);
  if (!task.ok()) {
    EXPECT_EQ(task.status().diagnostic().code, "E10055");
    return {};
  }
  ConvTiling t;
  EXPECT_TRUE(unpack_conv(*task, t).ok());
  if (tiling != nullptr) *tiling = t;
  Memory literal = p.memory, none = p.memory;
  EXPECT_TRUE(run_task(*task, chip, p.memory, aicore::Values::Fast).status.ok());
  expect_right(p, p.memory);
  const auto exact = run_task(*task, chip, literal, aicore::Values::Literal, true);
  expect_right(p, literal);
  const auto dry = run_task(*task, chip, none, aicore::Values::None, true);
  EXPECT_EQ(dry.cycles(), exact.cycles());
  return dry.cycles();
}

const Geometry kGeometries[] = {
    {1, 3, 20, {1, 9, 11}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, -128},
    {2, 4, 16, {1, 12, 10}, {1, 7, 7}, {1, 2, 2}, {1, 1, 1}, {0, 3, 3}, 5},
    {2, 3, 33, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}},
    {1, 1, 5, {1, 8, 9}, {1, 5, 2}, {1, 1, 2}, {1, 2, 3}, {0, 4, 1}, 17},
    {3, 2, 7, {1, 1, 37}, {1, 1, 5}, {1, 1, 3}, {1, 1, 2}, {0, 0, 4}, -3},
    {1, 3, 16, {5, 6, 4}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}, 11},
    {1, 4, 18, {4, 6, 7}, {3, 2, 3}, {1, 1, 2}, {2, 1, 1}, {2, 1, 0}, 0},
    {1, 3, 48, {1, 40, 40}, {1, 6, 6}, {1, 2, 2}, {1, 1, 1}, {0, 2, 2}, 127},
};

TEST(SmallChannelConv, AllGeometries) {
  std::uint32_t seed = 1;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Geometry& g : kGeometries)
      for (const DType dtype : {DType::F32, DType::F16, DType::BF16, DType::I8}) {
        SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(seed));
        Geometry padded = g;
        if (dtype != DType::I8) padded.zero = 0;
        Problem p = make_problem(padded, dtype, seed++);
        EXPECT_FALSE(check(p, chip(soc)).empty());
        if (::testing::Test::HasFatalFailure()) return;
      }
}

// What L1 cannot hold whole is cut into parts of rows, and into fewer fractals of taps at a time.
TEST(SmallChannelConv, SmallL1CutsRowsAndTaps) {
  const Geometry large[] = {
      kGeometries[1],
      kGeometries[5],
      {1, 3, 4, {1, 4, 120}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 3, 4, {1, 3, 600}, {1, 1, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 1}},
      {1, 3, 4, {1, 1, 400}, {1, 1, 90}, {1, 1, 7}, {1, 1, 1}, {0, 0, 3}},
      {1, 2, 4, {2, 1, 300}, {2, 1, 15}, {1, 1, 1}, {1, 1, 70}, {1, 0, 400}},
      {1, 3, 4, {1, 90, 40}, {1, 3, 3}, {1, 2, 1}, {1, 30, 16}, {0, 10, 5}},
  };
  std::uint32_t seed = 40;
  int part_rows = 0, part_taps = 0, both = 0, patches = 0;
  for (const Geometry& g : large)
    for (const DType dtype : {DType::F32, DType::F16, DType::I8})
      for (const int kib : {24, 12, 8, 6, 4, 3}) {
        SCOPED_TRACE(seed);
        Geometry padded = g;
        if (dtype != DType::I8) padded.zero = 0;
        Problem p = make_problem(padded, dtype, seed++);
        soc::Chip small = chip();
        small.l1 = kib * 1024;
        ConvTiling t;
        if (check(p, small, &t).empty()) continue;
        if (::testing::Test::HasFatalFailure()) return;
        const bool cut_taps = t.tap_span < t.spec.taps;
        EXPECT_EQ(t.tap_span % t.spec.taps_in_fractal, 0);
        part_rows += t.part_rows && !cut_taps ? 1 : 0;
        part_taps += cut_taps && !t.part_rows ? 1 : 0;
        both += cut_taps && t.part_rows ? 1 : 0;
        patches += t.tap_patches ? 1 : 0;
      }
  EXPECT_GT(part_rows, 0);
  EXPECT_GT(part_taps, 0);
  EXPECT_GT(both, 0);
  EXPECT_GT(patches, 0);
}

// The reduction of 7 x 7 taps is 13 fractals (of int8 7), not 49, and a fourth (an eighth) of the input is
// read.
TEST(SmallChannelConv, TakesFewerStepsOfTheCube) {
  const Geometry first = {1, 3, 64, {1, 64, 64}, {1, 7, 7}, {1, 2, 2}, {1, 1, 1}, {0, 3, 3}};
  for (const DType dtype : {DType::F16, DType::I8}) {
    std::int64_t cube[2] = {}, read[2] = {};
    for (const bool small : {false, true}) {
      const Problem p = make_problem(first, dtype, 7, small);
      const auto task = make_conv_task(p.spec, p.operands, chip());
      ASSERT_TRUE(task.ok());
      Memory memory = p.memory;
      for (const aicore::Stats& b : run_task(*task, chip(), memory, aicore::Values::None, true).blocks) {
        cube[small ? 1 : 0] += b.busy[static_cast<std::size_t>(aicore::Pipe::M)];
        read[small ? 1 : 0] += b.gm_read;
      }
    }
    EXPECT_LT(cube[1] * 2, cube[0]);
    EXPECT_LT(read[1] * 2, read[0]);
  }
}

TEST(SmallChannelConv, RefusesWhatDoesNotLieSideBySide) {
  const Problem good = make_problem(kGeometries[2], DType::F16, 3);
  const auto task = make_conv_task(good.spec, good.operands, chip());
  ASSERT_TRUE(task.ok());
  ConvTiling tiling;
  ASSERT_TRUE(unpack_conv(*task, tiling).ok());
  auto prepared = [&](auto change) {
    ConvTiling t = tiling;
    change(t.spec);
    return prepare_cube_conv(pack_conv(t, good.operands, chip()), chip()).ok();
  };
  EXPECT_TRUE(prepared([](ConvSpec&) {}));
  EXPECT_FALSE(prepared([](ConvSpec& s) { s.k_last = 5; }));
  EXPECT_FALSE(prepared([](ConvSpec& s) { s.taps_in_fractal = 2; }));
  EXPECT_FALSE(prepared([](ConvSpec& s) { s.taps += 1; }));
  EXPECT_FALSE(prepared([](ConvSpec& s) { s.k1 = 2; }));
  EXPECT_FALSE(prepared([](ConvSpec& s) { s.groups = 2; }));
}

TEST(SmallChannelConv, FuzzedParametersNeverEscape) {
  const Problem p = make_problem(kGeometries[3], DType::F16, 8);
  const auto task = make_conv_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_cube_conv, *task, chip(), p.memory, 400, 3), 40);
}

}  // namespace
}  // namespace atc::kernels::testing
