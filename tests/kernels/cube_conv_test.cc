#include "kernels/cube_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "atc/base/math.h"
#include "harness.h"
#include "kernels/cube_conv_tiling.h"

namespace atc::kernels::testing {
namespace {

struct Geometry {
  std::int64_t batch, groups, cin, cout;  // channels of one group; multiples of 16 when groups > 1
  std::array<std::int64_t, 3> in, kernel, stride, dilation, pad;
  bool transposed = false;
};

struct Problem {
  Geometry g;
  std::array<std::int64_t, 3> out{};
  ConvSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  Tensor x, w, bias;
  DType dtype;
  int result;
  bool in_rows = false;  ///< bias and result are row-major [C] and [N][C][D][H][W], not in blocks
};

std::size_t at5(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e,
                const std::array<std::int64_t, 4>& dims) {
  return static_cast<std::size_t>((((a * dims[0] + b) * dims[1] + c) * dims[2] + d) * dims[3] + e);
}

// x [N][C][D][H][W], w [G*cout][cin][KD][KH][KW] (for transposed ones the tap of the scatter form).
Problem make_problem(const Geometry& g, DType dtype, std::uint32_t seed, bool in_rows = false) {
  std::mt19937 rng(seed);
  Problem p;
  p.in_rows = in_rows;
  p.g = g;
  p.dtype = dtype;
  const std::int64_t c = g.groups * g.cin, oc = g.groups * g.cout;
  const std::int64_t c1 = ceil_div(c, 16), oc1 = ceil_div(oc, 16);
  const std::int64_t taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = (g.kernel[i] - 1) * g.dilation[i] + 1;
    p.out[i] = g.transposed ? (g.in[i] - 1) * g.stride[i] + reach - 2 * g.pad[i]
                            : (g.in[i] + 2 * g.pad[i] - reach) / g.stride[i] + 1;
  }
  p.x = random_tensor(dtype, {g.batch, c, g.in[0], g.in[1], g.in[2]}, rng, 1.0);
  p.w = random_tensor(dtype, {oc, g.cin, g.kernel[0], g.kernel[1], g.kernel[2]}, rng, 1.0);
  p.bias = random_tensor(DType::F32, {in_rows ? oc : oc1 * 16}, rng, 1.0);

  const auto xv = to_doubles(p.x), wv = to_doubles(p.w);
  const std::int64_t plane = g.in[0] * g.in[1] * g.in[2];
  // Garbage in the unused lanes of the last C0 block must not matter.
  std::vector<double> packed_x(static_cast<std::size_t>(g.batch * c1 * plane * 16), NAN);
  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t ch = 0; ch < c; ++ch)
      for (std::int64_t i = 0; i < plane; ++i)
        packed_x[static_cast<std::size_t>(((n * c1 + ch / 16) * plane + i) * 16 + ch % 16)] =
            xv[static_cast<std::size_t>((n * c + ch) * plane + i)];
  const std::int64_t k1 = ceil_div(g.cin, 16), n1 = ceil_div(g.cout, 16);
  std::vector<double> packed_w(static_cast<std::size_t>(g.groups * n1 * k1 * taps * 256), 0.0);
  for (std::int64_t o = 0; o < oc; ++o)
    for (std::int64_t i = 0; i < g.cin; ++i)
      for (std::int64_t t = 0; t < taps; ++t) {
        const std::int64_t panel = o / g.cout * n1 + o % g.cout / 16;
        packed_w[static_cast<std::size_t>((((panel * k1 + i / 16) * taps + t) * 16 + i % 16) * 16 +
                                          o % g.cout % 16)] =
            wv[static_cast<std::size_t>((o * g.cin + i) * taps + t)];
      }

  ConvSpec& s = p.spec;
  s.batch = g.batch;
  s.groups = g.groups;
  s.k1 = k1;
  s.k_last = g.cin - (k1 - 1) * 16;
  s.n1 = n1;
  s.taps = taps;
  s.in = g.in;
  if (!g.transposed) {
    s.in_stride = g.stride;
    ConvPhase phase;
    phase.count = p.out;
    for (std::int64_t d = 0, t = 0; d < g.kernel[0]; ++d)
      for (std::int64_t h = 0; h < g.kernel[1]; ++h)
        for (std::int64_t w = 0; w < g.kernel[2]; ++w, ++t)
          phase.taps.push_back(
              {t,
               {d * g.dilation[0] - g.pad[0], h * g.dilation[1] - g.pad[1], w * g.dilation[2] - g.pad[2]}});
    s.phases = {phase};
  } else {
    for (std::int64_t pd = 0; pd < g.stride[0]; ++pd)
      for (std::int64_t ph = 0; ph < g.stride[1]; ++ph)
        for (std::int64_t pw = 0; pw < g.stride[2]; ++pw) {
          ConvPhase phase;
          phase.start = {pd, ph, pw};
          phase.step = g.stride;
          for (std::size_t i = 0; i < 3; ++i)
            phase.count[i] = ceil_div(p.out[i] - phase.start[i], g.stride[i]);
          for (std::int64_t d = 0, t = 0; d < g.kernel[0]; ++d)
            for (std::int64_t h = 0; h < g.kernel[1]; ++h)
              for (std::int64_t w = 0; w < g.kernel[2]; ++w, ++t) {
                const std::int64_t k[3] = {d, h, w};
                ConvTap tap{t, {}};
                bool hit = true;
                for (std::size_t i = 0; i < 3; ++i) {
                  const std::int64_t from = phase.start[i] + g.pad[i] - k[i] * g.dilation[i];
                  hit = hit && from % g.stride[i] == 0;
                  tap.shift[i] = from / g.stride[i];
                }
                if (hit) phase.taps.push_back(tap);
              }
          if (phase.taps.empty()) phase.taps.push_back({0, {0, -(1 << 20), 0}});
          s.phases.push_back(phase);
        }
  }
  const std::int64_t out_plane = p.out[0] * p.out[1] * p.out[2];
  s.epilogue_operands = {
      {0, 0, 16, 0, 0, 0, 1},
      {0, oc1 * out_plane * 16, out_plane * 16, p.out[1] * p.out[2] * 16, p.out[2] * 16, 16, 1}};
  if (in_rows)
    s.epilogue_operands = {
        {0, 0, 16, 0, 0, 0, 1, 16, oc},
        {0, oc * out_plane, 16 * out_plane, p.out[1] * p.out[2], p.out[2], 1, out_plane, 16, oc}};
  VectorProgram& e = s.epilogue;
  const int acc = e.emit(VecOp::Acc, RegType::F32);
  e.store(1, RegType::F32,
          e.emit(VecOp::Relu, RegType::F32, e.emit(VecOp::Add, RegType::F32, acc, e.load(0, RegType::F32))));
  p.operands = {
      p.memory.operand(
          p.memory.add(from_doubles(dtype, {static_cast<std::int64_t>(packed_x.size())}, packed_x)), dtype),
      p.memory.operand(
          p.memory.add(from_doubles(dtype, {static_cast<std::int64_t>(packed_w.size())}, packed_w)), dtype),
      p.memory.operand(p.memory.add(p.bias), DType::F32)};
  p.result = p.memory.add(
      byte_size(dtype, static_cast<std::size_t>(g.batch * (in_rows ? oc : oc1 * 16) * out_plane)));
  p.operands.push_back(p.memory.operand(p.result, dtype, true));
  return p;
}

double reference(const Problem& p, const std::vector<double>& x, const std::vector<double>& w, std::int64_t n,
                 std::int64_t o, const std::array<std::int64_t, 3>& pos) {
  const Geometry& g = p.g;
  double sum = 0;
  std::int64_t k[3];
  for (k[0] = 0; k[0] < g.kernel[0]; ++k[0])
    for (k[1] = 0; k[1] < g.kernel[1]; ++k[1])
      for (k[2] = 0; k[2] < g.kernel[2]; ++k[2]) {
        std::int64_t in[3];
        bool inside = true;
        for (std::size_t i = 0; i < 3; ++i) {
          if (g.transposed) {
            const std::int64_t from = pos[i] + g.pad[i] - k[i] * g.dilation[i];
            inside = inside && from % g.stride[i] == 0;
            in[i] = from / g.stride[i];
            inside = inside && from >= 0;
          } else {
            in[i] = pos[i] * g.stride[i] + k[i] * g.dilation[i] - g.pad[i];
          }
          inside = inside && in[i] >= 0 && in[i] < g.in[i];
        }
        if (!inside) continue;
        for (std::int64_t i = 0; i < g.cin; ++i)
          sum += x[at5(n, o / g.cout * g.cin + i, in[0], in[1], in[2],
                       {g.groups * g.cin, g.in[0], g.in[1], g.in[2]})] *
                 w[at5(o, i, k[0], k[1], k[2], {g.cin, g.kernel[0], g.kernel[1], g.kernel[2]})];
      }
  return sum;
}

void expect_right(const Problem& p, const Memory& memory) {
  const auto x = to_doubles(p.x), w = to_doubles(p.w), bias = to_doubles(p.bias);
  const auto got = floats(memory, p.result, p.dtype);
  const std::int64_t oc = p.g.groups * p.g.cout, oc1 = ceil_div(oc, 16);
  const std::int64_t plane = p.out[0] * p.out[1] * p.out[2];
  const double k = static_cast<double>(p.g.cin * p.spec.taps);
  const double tolerance = p.dtype == DType::F32 ? 1e-5 : 2e-3;
  for (std::int64_t n = 0; n < p.g.batch; ++n)
    for (std::int64_t o = 0; o < oc; ++o)
      for (std::int64_t i = 0; i < plane; ++i) {
        const std::array<std::int64_t, 3> pos = {i / (p.out[1] * p.out[2]), i / p.out[2] % p.out[1],
                                                 i % p.out[2]};
        const double want = std::max(0.0, reference(p, x, w, n, o, pos) + bias[static_cast<std::size_t>(o)]);
        const std::int64_t at =
            p.in_rows ? (n * oc + o) * plane + i : ((n * oc1 + o / 16) * plane + i) * 16 + o % 16;
        ASSERT_NEAR(got[static_cast<std::size_t>(at)], want, tolerance * (std::abs(want) + std::sqrt(k)))
            << n << "," << o << "," << i;
      }
}

const Geometry kGeometries[] = {
    {1, 1, 3, 20, {1, 9, 11}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
    {2, 1, 40, 33, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}},
    {1, 2, 16, 32, {1, 8, 9}, {1, 3, 2}, {1, 1, 2}, {1, 2, 1}, {0, 2, 1}},
    {1, 1, 5, 7, {1, 1, 37}, {1, 1, 5}, {1, 1, 3}, {1, 1, 2}, {0, 0, 4}},
    {1, 1, 17, 16, {5, 6, 4}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {1, 1, 64, 48, {1, 40, 40}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
    {1, 1, 20, 24, {1, 5, 6}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, true},
    {1, 1, 8, 9, {1, 4, 4}, {1, 2, 2}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, true},
    {1, 1, 9, 8, {3, 4, 3}, {2, 3, 2}, {2, 1, 2}, {1, 2, 1}, {0, 1, 0}, true},
};

TEST(CubeConv, AllGeometries) {
  std::uint32_t seed = 1;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Geometry& g : kGeometries)
      for (DType dtype : {DType::F32, DType::F16}) {
        Problem p = make_problem(g, dtype, seed++);
        const auto task = make_conv_task(p.spec, p.operands, chip(soc));
        ASSERT_TRUE(task.ok()) << task.status().to_string();
        Memory literal = p.memory;
        const auto fast = run_task(*task, chip(soc), p.memory, aicore::Values::Fast);
        ASSERT_TRUE(fast.status.ok()) << fast.status.to_string();
        expect_right(p, p.memory);
        if (::testing::Test::HasFatalFailure()) return;
        const auto exact = run_task(*task, chip(soc), literal, aicore::Values::Literal, true);
        expect_right(p, literal);
        Memory none = literal;
        EXPECT_EQ(run_task(*task, chip(soc), none, aicore::Values::None, true).cycles(), exact.cycles());
      }
}

// The epilogue turns its tiles where operands are not in blocks; the last panel has fewer channels.
TEST(CubeConv, RowMajorEpilogueOperands) {
  std::uint32_t seed = 300;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Geometry& g : kGeometries)
      for (DType dtype : {DType::F32, DType::F16}) {
        Problem p = make_problem(g, dtype, seed++, true);
        const auto task = make_conv_task(p.spec, p.operands, chip(soc));
        ASSERT_TRUE(task.ok()) << task.status().to_string();
        Memory literal = p.memory;
        ASSERT_TRUE(run_task(*task, chip(soc), p.memory, aicore::Values::Fast).status.ok());
        expect_right(p, p.memory);
        if (::testing::Test::HasFatalFailure()) return;
        const auto exact = run_task(*task, chip(soc), literal, aicore::Values::Literal, true);
        expect_right(p, literal);
        Memory none = literal;
        EXPECT_EQ(run_task(*task, chip(soc), none, aicore::Values::None, true).cycles(), exact.cycles());
      }
}

TEST(CubeConv, RefusesChannelsThatDoNotFitThePanels) {
  Problem p = make_problem(kGeometries[0], DType::F16, 9, true);
  auto task = make_conv_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_TRUE(prepare_cube_conv(*task, chip()).ok());
  for (const std::int64_t channels : {16, 33}) {  // of 20, in two panels
    p.spec.epilogue_operands[1].channels = channels;
    task = make_conv_task(p.spec, p.operands, chip());
    ASSERT_TRUE(task.ok());
    EXPECT_EQ(prepare_cube_conv(*task, chip()).status().diagnostic().code, "E10041") << channels;
  }
}

// What L1 cannot hold whole is cut into parts of rows, and into fewer taps at a time.
TEST(CubeConv, SmallL1CutsRowsAndTaps) {
  const Geometry small_ones[] = {
      kGeometries[2],
      kGeometries[4],
      kGeometries[6],
      kGeometries[8],
      {1, 1, 3, 4, {1, 4, 120}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 1, 3, 4, {1, 1, 200}, {1, 1, 30}, {1, 1, 7}, {1, 1, 1}, {0, 0, 3}},
      {1, 1, 3, 2, {1, 2, 90}, {1, 3, 6}, {1, 1, 3}, {1, 1, 1}, {0, 1, 1}, true},
      {1, 1, 20, 4, {2, 1, 300}, {2, 1, 5}, {1, 1, 1}, {1, 1, 70}, {1, 0, 40}},
      {1, 1, 3, 4, {1, 90, 40}, {1, 3, 3}, {1, 2, 1}, {1, 30, 16}, {0, 10, 5}},
      {1, 1, 3, 2, {1, 1, 40}, {1, 1, 5}, {1, 1, 2}, {1, 1, 60}, {0, 0, 1}, true},
  };
  std::uint32_t seed = 40;
  int part_rows = 0, part_taps = 0, both = 0, patches = 0;
  for (const Geometry& g : small_ones)
    for (DType dtype : {DType::F32, DType::F16})
      for (const int kib : {48, 32, 24, 16, 12, 8}) {
        Problem p = make_problem(g, dtype, seed++);
        soc::Chip small = chip();
        small.l1 = kib * 1024;
        const auto task = make_conv_task(p.spec, p.operands, small);
        if (!task.ok()) {
          EXPECT_EQ(task.status().diagnostic().code, "E10055");
          continue;
        }
        ConvTiling t;
        ASSERT_TRUE(unpack_conv(*task, t).ok());
        const bool cut_taps = t.tap_span < t.spec.taps;
        part_rows += t.part_rows && !cut_taps ? 1 : 0;
        part_taps += cut_taps && !t.part_rows ? 1 : 0;
        both += cut_taps && t.part_rows ? 1 : 0;
        patches += t.tap_patches ? 1 : 0;
        Memory literal = p.memory;
        ASSERT_TRUE(run_task(*task, small, p.memory, aicore::Values::Fast).status.ok());
        expect_right(p, p.memory);
        const auto exact = run_task(*task, small, literal, aicore::Values::Literal, true);
        expect_right(p, literal);
        if (::testing::Test::HasFatalFailure()) return;
        Memory none = literal;
        EXPECT_EQ(run_task(*task, small, none, aicore::Values::None, true).cycles(), exact.cycles());
      }
  EXPECT_GT(part_rows, 0);
  EXPECT_GT(part_taps, 0);
  EXPECT_GT(both, 0);
  EXPECT_GT(patches, 0);
}

TEST(CubeConv, WideRowsAndLargeKernelsFitEveryChip) {
  const Geometry large[] = {
      {1, 1, 1, 4, {1, 3, 6000}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 1, 1, 8, {1, 1, 16000}, {1, 1, 400}, {1, 1, 160}, {1, 1, 1}, {0, 0, 0}},
      {1, 1, 3, 4, {1, 32, 31}, {1, 31, 31}, {1, 1, 1}, {1, 1, 1}, {0, 2, 1}},
      {1, 1, 3, 2, {1, 1, 2000}, {1, 1, 8}, {1, 1, 4}, {1, 1, 1}, {0, 0, 2}, true},
      {1, 1, 40, 4, {1, 1, 8000}, {1, 1, 3}, {1, 1, 1}, {1, 1, 2048}, {0, 0, 0}},
      {1, 1, 3, 4, {1, 300, 600}, {1, 3, 3}, {1, 30, 1}, {1, 130, 250}, {0, 100, 10}},
      {1, 1, 3, 4, {1, 1, 30000}, {1, 1, 2}, {1, 1, 6000}, {1, 1, 1}, {0, 0, 0}},
  };
  std::uint32_t seed = 90;
  for (const char* soc : {"Ascend310", "Ascend310B1", "Ascend310P3", "Ascend910B3"})
    for (const Geometry& g : large)
      for (DType dtype : {DType::F32, DType::F16}) {
        Problem p = make_problem(g, dtype, seed++);
        const auto task = make_conv_task(p.spec, p.operands, chip(soc));
        ASSERT_TRUE(task.ok()) << task.status().to_string();
        ASSERT_TRUE(run_task(*task, chip(soc), p.memory, aicore::Values::Fast).status.ok());
        if (std::string_view(soc) == "Ascend310") expect_right(p, p.memory);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

// Runs a task in every mode: right values, and the same cycles with and without them.
void expect_right_in_all_modes(Problem p, const Task& task, const soc::Chip& chip) {
  Memory literal = p.memory, none = p.memory;
  const auto fast = run_task(task, chip, p.memory, aicore::Values::Fast);
  ASSERT_TRUE(fast.status.ok()) << fast.status.to_string();
  expect_right(p, p.memory);
  const auto exact = run_task(task, chip, literal, aicore::Values::Literal, true);
  expect_right(p, literal);
  EXPECT_EQ(run_task(task, chip, none, aicore::Values::None, true).cycles(), exact.cycles());
}

std::vector<CubePlan> plans_of(const Problem& p, const ConvTiling& t, const soc::Chip& chip) {
  return conv_plans(t, *conv_epilogue(t, p.operands), p.operands, chip, false);
}

// Small planes of several items of the batch in one tile, the last tile with fewer of them.
TEST(CubeConv, SeveralImagesInATile) {
  const Geometry small_planes[] = {
      {5, 1, 40, 33, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {7, 1, 20, 24, {1, 7, 6}, {1, 1, 1}, {1, 2, 1}, {1, 1, 1}, {0, 0, 0}},
      {3, 2, 16, 32, {3, 5, 4}, {2, 3, 2}, {1, 2, 1}, {1, 1, 1}, {1, 1, 0}},
  };
  std::uint32_t seed = 500;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Geometry& g : small_planes)
      for (const DType dtype : {DType::F32, DType::F16})
        for (const bool in_rows : {false, true}) {
          const Problem p = make_problem(g, dtype, seed++, in_rows);
          const ConvTiling t = conv_tiling(p.spec);
          std::set<std::tuple<int, int, int, bool>> seen;  // some plans of each kind
          int tried = 0;
          for (const CubePlan& plan : plans_of(p, t, chip(soc))) {
            const int parts = plan.k_chunk < p.spec.k1 ? 2 : 1;
            if (plan.images < 2 ||
                !seen.insert({plan.images, parts, plan.l0c_buffers, plan.rows_inner}).second)
              continue;
            expect_right_in_all_modes(p, pack_conv(t.with(plan, bit_width(dtype) / 8), p.operands, chip(soc)),
                                      chip(soc));
            if (::testing::Test::HasFatalFailure()) return;
            ++tried;
          }
          EXPECT_GE(tried, 4);
        }
}

TEST(CubeConv, RefusesImagesThatATileCannotHave) {
  const Problem p =
      make_problem({4, 1, 16, 16, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}}, DType::F16, 9);
  const ConvTiling t = conv_tiling(p.spec);
  const std::vector<CubePlan> plans = plans_of(p, t, chip());
  const auto two = std::find_if(plans.begin(), plans.end(), [](const CubePlan& q) { return q.images == 2; });
  ASSERT_NE(two, plans.end());
  const ConvTiling good = t.with(*two, 2);
  EXPECT_TRUE(prepare_cube_conv(pack_conv(good, p.operands, chip()), chip()).ok());
  const auto refused = [&](void (*change)(ConvTiling&)) {
    Task task = pack_conv(good, p.operands, chip());
    ConvTiling bad = good;
    change(bad);
    task.params = conv_params(bad);
    const auto kernel = prepare_cube_conv(task, chip());
    return !kernel.ok() && kernel.status().diagnostic().code == "E10041";
  };
  EXPECT_TRUE(refused([](ConvTiling& b) { b.images = 0; }));
  EXPECT_TRUE(refused([](ConvTiling& b) { b.images = 5; }));  // of 4
  EXPECT_TRUE(refused([](ConvTiling& b) { b.images = 3; }));  // in rows for two
  EXPECT_TRUE(refused([](ConvTiling& b) { b.tile.m = 50; }));
  EXPECT_TRUE(refused([](ConvTiling& b) { b.part_rows = true; }));
}

// A kernel of one row: rows that the stride leaves out are not loaded, whatever lies in the padding.
TEST(CubeConv, LeavesOutRowsBetweenStrides) {
  const Geometry strided[] = {
      {2, 1, 20, 24, {1, 9, 6}, {1, 1, 1}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}},
      {1, 1, 20, 24, {1, 10, 6}, {1, 1, 3}, {1, 3, 1}, {1, 1, 1}, {0, 2, 1}},
      {1, 1, 8, 9, {1, 2, 40}, {1, 1, 1}, {1, 4, 1}, {1, 1, 1}, {0, 8, 0}},   // rows wholly in the padding
      {1, 1, 8, 9, {1, 3, 300}, {1, 1, 1}, {1, 4, 1}, {1, 1, 1}, {0, 9, 0}},  // no row but padding
  };
  std::uint32_t seed = 600;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Geometry& g : strided)
      for (const DType dtype : {DType::F32, DType::F16}) {
        const Problem p = make_problem(g, dtype, seed++);
        const auto task = make_conv_task(p.spec, p.operands, chip(soc));
        ASSERT_TRUE(task.ok()) << task.status().to_string();
        expect_right_in_all_modes(p, *task, chip(soc));
        if (::testing::Test::HasFatalFailure()) return;
      }

  Problem p =
      make_problem({1, 1, 16, 16, {1, 64, 64}, {1, 1, 1}, {1, 4, 1}, {1, 1, 1}, {0, 0, 0}}, DType::F16, 7);
  const auto task = make_conv_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  std::int64_t read = 0;
  for (const aicore::Stats& s : run_task(*task, chip(), p.memory, aicore::Values::None, true).blocks)
    read += s.gm_read;
  EXPECT_LT(read, p.operands[0].bytes / 2);
}

TEST(CubeConv, OverflowingTilesAreInternalErrors) {
  Problem p = make_problem(kGeometries[5], DType::F16, 3);
  const auto task = make_conv_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  for (std::int64_t soc::Chip::*memory :
       {&soc::Chip::l0a, &soc::Chip::l0b, &soc::Chip::l0c, &soc::Chip::l1, &soc::Chip::ub}) {
    soc::Chip small = chip();
    small.*memory = 512;
    EXPECT_THROW((void)run_task(*task, small, p.memory, aicore::Values::Fast), InternalError);
  }
}

TEST(CubeConv, CorruptedBlocksChangeTheOutput) {
  Problem p = make_problem(kGeometries[5], DType::F16, 4);
  auto task = make_conv_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  Memory good = p.memory, bad = p.memory;
  ASSERT_TRUE(run_task(*task, chip(), good, aicore::Values::Fast).status.ok());
  task->block_tiles[0] += 1;
  ASSERT_TRUE(run_task(*task, chip(), bad, aicore::Values::Fast).status.ok());
  EXPECT_FALSE(good == bad);
}

TEST(CubeConv, FuzzedParametersNeverEscape) {
  Problem p = make_problem(kGeometries[0], DType::F16, 8);
  const auto task = make_conv_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_cube_conv, *task, chip(), p.memory, 400, 3), 40);
}

}  // namespace
}  // namespace atc::kernels::testing
