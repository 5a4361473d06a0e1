// Matrix products whose activations are in FRACTAL_NZ.

#include <gtest/gtest.h>

#include <cmath>

#include "fractal_testing.h"
#include "kernels/cube_matmul.h"
#include "kernels/in_place.h"

namespace atc::kernels::testing {
namespace {

using Layout = MatMulSpec::BLayout;

/// What of a product is in FRACTAL_NZ, and whether A is stored K x M.
struct Formats {
  bool a = false, b = false, residual = false, out = false;
  bool a_transposed = false;
};

struct Problem {
  MatMulSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  Tensor a, b, bias, residual;
  DType dtype = DType::F16;
  Formats formats;
  Fractal out_at;
  int out = -1;
};

MatrixAddress rows(std::int64_t m, std::int64_t n, std::int64_t col_stride) {
  return {0, {m * n}, n, col_stride};
}
MatrixAddress blocks(const Fractal& f, std::int64_t col_stride) {
  return {0, {f.matrix()}, 16, col_stride, f.block_stride()};
}

// Matrices [rows][cols] as [cols][rows].
Tensor turned(const Tensor& t, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  const auto values = to_doubles(t);
  std::vector<double> out(values.size());
  for (std::int64_t i = 0; i < batch; ++i)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c)
        out[static_cast<std::size_t>((i * cols + c) * rows + r)] =
            values[static_cast<std::size_t>((i * rows + r) * cols + c)];
  return from_doubles(t.dtype, {batch, cols, rows}, out);
}

// relu(A x B + bias) + residual.
Problem make_problem(std::int64_t batch, std::int64_t m, std::int64_t k, std::int64_t n, Layout layout,
                     DType dtype, Formats formats, std::uint32_t seed) {
  std::mt19937 rng(seed);
  Problem p;
  p.dtype = dtype;
  p.formats = formats;
  p.a = random_tensor(dtype, {batch, m, k}, rng, 1.0);
  p.b = random_tensor(dtype, {batch, k, n}, rng, 1.0);
  p.bias = random_tensor(DType::F32, {n}, rng, 1.0);
  p.residual = random_tensor(dtype, {batch, m, n}, rng, 1.0);
  const Fractal a_at = formats.a_transposed ? Fractal{batch, k, m} : Fractal{batch, m, k};
  const Fractal out_at{batch, m, n};
  p.out_at = out_at;
  MatMulSpec& s = p.spec;
  s.batch = {batch};
  s.m = m;
  s.k = k;
  s.n = n;
  s.b_layout = layout;
  s.a_transposed = formats.a_transposed;
  s.a = formats.a ? blocks(a_at, 0) : rows(a_at.rows, a_at.cols, 0);
  const bool transposed = layout == Layout::Transposed;
  const Fractal b_at = transposed ? Fractal{batch, n, k} : Fractal{batch, k, n};
  s.b = formats.b ? blocks(b_at, 0) : rows(b_at.rows, b_at.cols, 0);
  s.epilogue_operands = {{0, {0}, 0, 1},
                         formats.residual ? blocks(out_at, 1) : rows(m, n, 1),
                         formats.out ? blocks(out_at, 1) : rows(m, n, 1)};
  VectorProgram& e = s.epilogue;
  const int acc = e.emit(VecOp::Acc, RegType::F32);
  const int sum = e.emit(VecOp::Add, RegType::F32, acc, e.load(0, RegType::F32));
  const int relu = e.emit(VecOp::Relu, RegType::F32, sum);
  e.store(2, RegType::F32, e.emit(VecOp::Add, RegType::F32, relu, e.load(1, RegType::F32)));
  const auto add = [&](const Tensor& t, const Fractal& f, bool fractal) {
    const int id = fractal ? add_fractal(p.memory, t, f) : p.memory.add(t);
    p.operands.push_back(p.memory.operand(id, t.dtype));
  };
  add(formats.a_transposed ? turned(p.a, batch, m, k) : p.a, a_at, formats.a);
  add(transposed ? turned(p.b, batch, k, n) : p.b, b_at, formats.b);
  add(p.bias, {}, false);
  add(p.residual, out_at, formats.residual);
  p.out = formats.out ? add_fractal_output(p.memory, dtype, out_at)
                      : p.memory.add(byte_size(dtype, static_cast<std::size_t>(batch * m * n)));
  p.operands.push_back(p.memory.operand(p.out, dtype, true));
  return p;
}

void expect_right(const Problem& p, const Memory& memory) {
  const auto a = to_doubles(p.a), b = to_doubles(p.b), bias = to_doubles(p.bias), z = to_doubles(p.residual);
  bool kept = true;
  const auto got = p.formats.out ? fractal_floats(memory, p.out, p.dtype, p.out_at, &kept)
                                 : floats(memory, p.out, p.dtype);
  EXPECT_TRUE(kept) << "padding was written";
  const std::int64_t m = p.spec.m, k = p.spec.k, n = p.spec.n;
  const double tolerance = p.dtype == DType::F32 ? 1e-5 : p.dtype == DType::F16 ? 2e-3 : 1e-2;
  const auto at = [](const std::vector<double>& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
  for (std::int64_t i = 0; i < p.spec.batch[0]; ++i)
    for (std::int64_t x = 0; x < m; ++x)
      for (std::int64_t y = 0; y < n; ++y) {
        double sum = at(bias, y);
        for (std::int64_t c = 0; c < k; ++c) sum += at(a, (i * m + x) * k + c) * at(b, (i * k + c) * n + y);
        const double want = std::max(sum, 0.0) + at(z, (i * m + x) * n + y);
        ASSERT_NEAR(got[static_cast<std::size_t>((i * m + x) * n + y)], want,
                    tolerance * (std::abs(want) + std::sqrt(static_cast<double>(k))))
            << i << "," << x << "," << y;
      }
}

// Fast and Literal add in another order, so each is held against the formula; all modes take the same cycles.
void expect_right_in_all_modes(Problem& p, const Task& task, const soc::Chip& chip) {
  using aicore::Values;
  Memory literal = p.memory, none = p.memory, timed = p.memory;
  ASSERT_TRUE(run_task(task, chip, p.memory, Values::Fast).status.ok());
  expect_right(p, p.memory);
  const auto exact = run_task(task, chip, literal, Values::Literal, true);
  expect_right(p, literal);
  EXPECT_EQ(run_task(task, chip, none, Values::None, true).cycles(), exact.cycles());
  EXPECT_EQ(run_task(task, chip, timed, Values::Fast, true).cycles(), exact.cycles());
}

TEST(FractalMatMul, EveryOperandInEitherFormat) {
  struct Size {
    std::int64_t batch, m, k, n;
  };
  std::uint32_t seed = 1;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Size s : {Size{1, 64, 32, 48}, Size{2, 33, 48, 80}, Size{1, 197, 320, 32}, Size{3, 5, 32, 64}})
      for (Layout layout : {Layout::Matrix, Layout::Transposed})
        for (DType dtype : {DType::F32, DType::F16, DType::BF16})
          for (int bits = 1; bits < 16; ++bits) {
            if (dtype != DType::F16 && bits % 5 != 0) continue;
            const Formats f{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
            Problem p = make_problem(s.batch, s.m, s.k, s.n, layout, dtype, f, seed++);
            const auto task = make_matmul_task(p.spec, p.operands, chip(soc));
            ASSERT_TRUE(task.ok()) << task.status().to_string();
            expect_right_in_all_modes(p, *task, chip(soc));
          }
}

TEST(FractalMatMul, ATransposedFirstOperand) {
  std::uint32_t seed = 900;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (DType dtype : {DType::F32, DType::F16, DType::BF16})
      for (const std::int64_t m : {48, 400})
        for (const bool out : {false, true}) {
          Problem p =
              make_problem(2, m, 37, 64, Layout::Matrix, dtype, {true, false, out, out, true}, seed++);
          const auto task = make_matmul_task(p.spec, p.operands, chip(soc));
          ASSERT_TRUE(task.ok()) << task.status().to_string();
          expect_right_in_all_modes(p, *task, chip(soc));
        }
}

TEST(FractalMatMul, ReductionsAreCutAtBlocks) {
  Problem p = make_problem(1, 300, 8192, 32, Layout::Matrix, DType::F16, {true, true, true, true}, 5);
  const auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  expect_right_in_all_modes(p, *task, chip());
}

// Rows of K go to L1 in bursts of 32 bytes where there is no Nd2Nz, as whole stretches where there is.
TEST(FractalMatMul, WhatItSavesDependsOnNd2Nz) {
  const auto cycles = [](const char* soc, bool fractal) {
    Problem p =
        make_problem(1, 512, 4096, 256, Layout::Matrix, DType::F16, {fractal, fractal, false, false}, 6);
    const auto task = make_matmul_task(p.spec, p.operands, chip(soc));
    EXPECT_TRUE(task.ok());
    return run_task(*task, chip(soc), p.memory, aicore::Values::None, true).longest();
  };
  EXPECT_LT(cycles("Ascend310P3", true), cycles("Ascend310P3", false) * 9 / 10);
  EXPECT_LE(cycles("Ascend910B3", true), cycles("Ascend910B3", false));
  EXPECT_GT(cycles("Ascend910B3", true), cycles("Ascend910B3", false) * 9 / 10);
}

TEST(FractalMatMul, AnOutputTakesThePlaceOfAnOperandInTheSameFormatOnly) {
  for (int bits = 0; bits < 4; ++bits) {
    const Formats f{true, false, (bits & 1) != 0, (bits & 2) != 0};
    Problem p = make_problem(2, 40, 32, 64, Layout::Matrix, DType::F16, f, 7);
    const auto task = make_matmul_task(p.spec, p.operands, chip());
    ASSERT_TRUE(task.ok());
    EXPECT_EQ(may_share(*task, 3, 4), f.residual == f.out) << bits;
    EXPECT_FALSE(may_share(*task, 0, 4));
    if (f.residual != f.out) continue;
    // Into the residual, tiles in another order: the same result.
    Memory apart = p.memory, shared = p.memory;
    Task in_place = *task;
    in_place.operands[4].tensor = in_place.operands[3].tensor;
    ASSERT_TRUE(run_task(*task, chip(), apart, aicore::Values::Fast).status.ok());
    ASSERT_TRUE(run_task(in_place, chip(), shared, aicore::Values::Fast).status.ok());
    EXPECT_EQ(apart[p.out], shared[in_place.operands[3].tensor]);
  }
}

TEST(FractalMatMul, RefusesWhatItCannotWalk) {
  const Problem good = make_problem(1, 40, 32, 64, Layout::Matrix, DType::F16, {true, true, true, true}, 8);
  const auto prepared = [&](auto edit) {
    Problem p = good;
    edit(p.spec);
    try {
      const auto task = make_matmul_task(p.spec, p.operands, chip());
      return task.ok() && prepare_cube_matmul(*task, chip()).ok();
    } catch (const InternalError&) {  // of a plan that is tried
      return false;
    }
  };
  EXPECT_TRUE(prepared([](MatMulSpec&) {}));
  EXPECT_FALSE(prepared([](MatMulSpec& s) { s.k = 31; }));                               // columns of A
  EXPECT_FALSE(prepared([](MatMulSpec& s) { s.n = 63; }));                               // of the others
  EXPECT_FALSE(prepared([](MatMulSpec& s) { s.a.row_stride = 32; }));                    // rows apart
  EXPECT_FALSE(prepared([](MatMulSpec& s) { s.a.block_stride = -640; }));                // backwards
  EXPECT_FALSE(prepared([](MatMulSpec& s) { s.epilogue_operands[1].col_stride = 0; }));  // broadcast
  EXPECT_FALSE(prepared([](MatMulSpec& s) { s.b_layout = Layout::Panels; }));
  EXPECT_FALSE(prepared([](MatMulSpec& s) { s.a_transposed = true; }));  // 40 columns
}

TEST(FractalMatMul, FuzzedParametersNeverEscape) {
  Problem p = make_problem(2, 33, 48, 80, Layout::Matrix, DType::F16, {true, true, true, true}, 9);
  const auto task = make_matmul_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_cube_matmul, *task, chip(), p.memory, 400, 3), 40);
}

}  // namespace
}  // namespace atc::kernels::testing
