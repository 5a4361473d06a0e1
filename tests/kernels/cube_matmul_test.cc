#include "kernels/cube_matmul.h"

#include <gtest/gtest.h>

#include <cmath>

#include "atc/base/math.h"
#include "harness.h"

namespace atc::kernels::testing {
namespace {

using Layout = MatMulSpec::BLayout;

struct Problem {
  MatMulSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  Tensor a, b, bias;
  DType dtype;
  std::int64_t batch;
  int out;
};

// [batch, m, k] x [batch, k, n] + bias[n], then Relu.
Problem make_problem(std::int64_t batch, std::int64_t m, std::int64_t k, std::int64_t n, Layout layout,
                     DType dtype, std::uint32_t seed) {
  std::mt19937 rng(seed);
  Problem p;
  p.dtype = dtype;
  p.batch = batch;
  p.a = random_tensor(dtype, {batch, m, k}, rng, 1.0);
  p.b = random_tensor(dtype, {batch, k, n}, rng, 1.0);
  p.bias = random_tensor(DType::F32, {n}, rng, 1.0);
  const auto bv = to_doubles(p.b);
  const std::int64_t k1 = ceil_div(k, 16), n1 = ceil_div(n, 16);
  Tensor stored = p.b;
  MatMulSpec& s = p.spec;
  if (layout == Layout::Panels) {
    // Lanes beyond K and N hold garbage that must not matter.
    std::vector<double> packed(static_cast<std::size_t>(batch * n1 * k1 * 256), 1e4);
    for (std::int64_t i = 0; i < batch; ++i)
      for (std::int64_t x = 0; x < k; ++x)
        for (std::int64_t y = 0; y < n; ++y)
          packed[static_cast<std::size_t>((((i * n1 + y / 16) * k1 + x / 16) * 16 + x % 16) * 16 + y % 16)] =
              bv[static_cast<std::size_t>((i * k + x) * n + y)];
    stored = from_doubles(dtype, {batch, n1, k1, 16, 16}, packed);
    s.b = {0, {n1 * k1 * 256}, 0, 0};
  } else if (layout == Layout::Transposed) {
    std::vector<double> t(bv.size());
    for (std::int64_t i = 0; i < batch; ++i)
      for (std::int64_t x = 0; x < k; ++x)
        for (std::int64_t y = 0; y < n; ++y)
          t[static_cast<std::size_t>((i * n + y) * k + x)] =
              bv[static_cast<std::size_t>((i * k + x) * n + y)];
    stored = from_doubles(dtype, {batch, n, k}, t);
    s.b = {0, {k * n}, k, 0};
  } else {
    s.b = {0, {k * n}, n, 0};
  }
  s.batch = {batch};
  s.m = m;
  s.k = k;
  s.n = n;
  s.b_layout = layout;
  s.a = {0, {m * k}, k, 0};
  s.epilogue_operands = {{0, {0}, 0, 1}, {0, {m * n}, n, 1}};
  VectorProgram& e = s.epilogue;
  const int acc = e.emit(VecOp::Acc, RegType::F32);
  const int sum = e.emit(VecOp::Add, RegType::F32, acc, e.load(0, RegType::F32));
  e.store(1, RegType::F32, e.emit(VecOp::Relu, RegType::F32, sum));
  p.operands = {p.memory.operand(p.memory.add(p.a), dtype), p.memory.operand(p.memory.add(stored), dtype),
                p.memory.operand(p.memory.add(p.bias), DType::F32)};
  p.out = p.memory.add(byte_size(dtype, static_cast<std::size_t>(batch * m * n)));
  p.operands.push_back(p.memory.operand(p.out, dtype, true));
  return p;
}

void expect_right(const Problem& p, const Memory& memory) {
  const auto a = to_doubles(p.a), b = to_doubles(p.b), bias = to_doubles(p.bias);
  const auto got = floats(memory, p.out, p.dtype);
  const std::int64_t m = p.spec.m, k = p.spec.k, n = p.spec.n;
  const double tolerance = p.dtype == DType::F32 ? 1e-5 : p.dtype == DType::F16 ? 2e-3 : 1e-2;
  for (std::int64_t i = 0; i < p.batch; ++i)
    for (std::int64_t x = 0; x < m; ++x)
      for (std::int64_t y = 0; y < n; ++y) {
        double sum = bias[static_cast<std::size_t>(y)];
        for (std::int64_t z = 0; z < k; ++z)
          sum += a[static_cast<std::size_t>((i * m + x) * k + z)] *
                 b[static_cast<std::size_t>((i * k + z) * n + y)];
        const double want = std::max(sum, 0.0);
        ASSERT_NEAR(got[static_cast<std::size_t>((i * m + x) * n + y)], want,
                    tolerance * (std::abs(want) + std::sqrt(static_cast<double>(k))))
            << i << "," << x << "," << y;
      }
}

// A stored as [batch, k, m].
void turn_a(Problem& p) {
  const MatMulSpec& s = p.spec;
  const auto a = to_doubles(p.a);
  std::vector<double> turned(a.size());
  for (std::int64_t i = 0; i < p.batch; ++i)
    for (std::int64_t x = 0; x < s.m; ++x)
      for (std::int64_t z = 0; z < s.k; ++z)
        turned[static_cast<std::size_t>((i * s.k + z) * s.m + x)] =
            a[static_cast<std::size_t>((i * s.m + x) * s.k + z)];
  p.operands[0] = p.memory.operand(p.memory.add(from_doubles(p.dtype, {p.batch, s.k, s.m}, turned)), p.dtype);
  p.spec.a_transposed = true;
  p.spec.a.row_stride = s.m;
}

TEST(CubeMatMul, AllLayoutsDtypesAndTails) {
  struct Size {
    std::int64_t batch, m, k, n;
  };
  std::uint32_t seed = 1;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Size s : {Size{1, 1, 16, 16}, Size{1, 1, 70, 130}, Size{2, 33, 40, 50}, Size{3, 64, 32, 64},
                         Size{1, 197, 300, 31}})
      for (Layout layout : {Layout::Panels, Layout::Matrix, Layout::Transposed})
        for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
          Problem p = make_problem(s.batch, s.m, s.k, s.n, layout, dtype, seed++);
          if (s.m > 1 && seed % 2 == 0) turn_a(p);
          const auto task = make_matmul_task(p.spec, p.operands, chip(soc));
          ASSERT_TRUE(task.ok()) << task.status().to_string();
          Memory literal = p.memory;
          const auto fast = run_task(*task, chip(soc), p.memory, aicore::Values::Fast);
          ASSERT_TRUE(fast.status.ok()) << fast.status.to_string();
          expect_right(p, p.memory);
          const auto exact = run_task(*task, chip(soc), literal, aicore::Values::Literal, true);
          expect_right(p, literal);
          Memory none = literal;
          EXPECT_EQ(run_task(*task, chip(soc), none, aicore::Values::None, true).cycles(), exact.cycles());
          Memory timed = literal;
          EXPECT_EQ(run_task(*task, chip(soc), timed, aicore::Values::Fast, true).cycles(), exact.cycles());
        }
}

TEST(CubeMatMul, LongReductionsAreCutForL1) {
  Problem p = make_problem(1, 20, 40000, 20, Layout::Panels, DType::F32, 5);
  const auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_TRUE(run_task(*task, chip(), p.memory, aicore::Values::Fast).status.ok());
  expect_right(p, p.memory);
}

// Not even the 128th part of such a reduction fits in L1 twice, of A and B.
TEST(CubeMatMul, ReductionsOfAMillionAreCutIntoAsManyPartsAsTheyNeed) {
  for (const char* soc : {"Ascend910B3", "Ascend310P3"}) {
    Problem p = make_problem(1, 4, 1048576, 5, Layout::Matrix, DType::F16, 9);
    const auto task = make_matmul_task(p.spec, p.operands, chip(soc));
    ASSERT_TRUE(task.ok()) << task.status().to_string();
    ASSERT_TRUE(run_task(*task, chip(soc), p.memory, aicore::Values::Fast).status.ok());
    expect_right(p, p.memory);
  }
}

TEST(CubeMatMul, OverflowingTilesAreInternalErrors) {
  Problem p = make_problem(1, 64, 64, 64, Layout::Panels, DType::F16, 6);
  const auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  for (std::int64_t soc::Chip::*memory :
       {&soc::Chip::l0a, &soc::Chip::l0b, &soc::Chip::l0c, &soc::Chip::l1, &soc::Chip::ub}) {
    soc::Chip small = chip();
    small.*memory = 512;
    EXPECT_THROW((void)run_task(*task, small, p.memory, aicore::Values::Fast), InternalError);
  }
}

TEST(CubeMatMul, CorruptedBlocksChangeTheOutput) {
  Problem p = make_problem(1, 256, 64, 256, Layout::Panels, DType::F16, 7);
  auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  Memory good = p.memory, bad = p.memory;
  ASSERT_TRUE(run_task(*task, chip(), good, aicore::Values::Fast).status.ok());
  task->block_tiles.back() -= 1;
  ASSERT_TRUE(run_task(*task, chip(), bad, aicore::Values::Fast).status.ok());
  EXPECT_FALSE(good == bad);
}

TEST(CubeMatMul, FuzzedParametersNeverEscape) {
  Problem p = make_problem(2, 33, 40, 50, Layout::Matrix, DType::F16, 8);
  const auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_cube_matmul, *task, chip(), p.memory, 400, 3), 40);
}

}  // namespace
}  // namespace atc::kernels::testing
