#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness.h"
#include "kernels/padded_vector.h"

namespace atc::kernels::testing {
namespace {

struct Case {
  VectorProgram program;
  VectorSpace space;
  Memory memory;
  std::vector<Operand> operands;

  int input(const Tensor& t, Dims strides) {
    operands.push_back(memory.operand(memory.add(t), t.dtype));
    space.strides.push_back(std::move(strides));
    space.offsets.push_back(0);
    return static_cast<int>(operands.size()) - 1;
  }
  int output(DType dtype, std::size_t count, Dims strides) {
    operands.push_back(memory.operand(memory.add(byte_size(dtype, count)), dtype, true));
    space.strides.push_back(std::move(strides));
    space.offsets.push_back(0);
    return static_cast<int>(operands.size()) - 1;
  }
  Task task(const soc::Chip& c) {
    auto t = make_vector_task(program, space, operands, c);
    EXPECT_TRUE(t.ok()) << t.status().to_string();
    return *t;
  }
};

TEST(VectorKernel, BroadcastsChainsAndRoundsOnce) {
  std::mt19937 rng(1);
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    const Dims dims{3, 5, 70};
    Case c;
    c.space.dims = dims;
    const Tensor x = random_tensor(dtype, dims, rng), bias = random_tensor(dtype, {70}, rng),
                 scale = random_tensor(dtype, {3, 5, 1}, rng);
    const int ix = c.input(x, broadcast_strides(dims, dims)),
              ib = c.input(bias, broadcast_strides({70}, dims)),
              is = c.input(scale, broadcast_strides({3, 5, 1}, dims));
    const int out = c.output(dtype, 3 * 5 * 70, broadcast_strides(dims, dims));
    VectorProgram& p = c.program;
    const int s = p.emit(VecOp::Mul, RegType::F32, p.load(ix, RegType::F32), p.load(is, RegType::F32));
    const int t = p.emit(VecOp::Add, RegType::F32, s, p.load(ib, RegType::F32));
    p.store(out, RegType::F32, p.emit(VecOp::Tanh, RegType::F32, t));
    const Task task = c.task(chip());
    EXPECT_EQ(check_modes(prepare_vector_program, task, chip(), c.memory), "");
    const auto xs = to_doubles(x), bs = to_doubles(bias), ss = to_doubles(scale);
    const auto got = floats(c.memory, out, dtype);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = std::tanh(xs[i] * ss[i / 70] + bs[i % 70]);
      ASSERT_NEAR(got[i], want, dtype == DType::F32 ? 1e-6 : dtype == DType::F16 ? 1e-3 : 8e-3) << i;
    }
  }
}

// Softmax on an axis that fits UB and on one that has to be walked in chunks, last and not last.
TEST(VectorKernel, SoftmaxAnyAxisAnyLength) {
  std::mt19937 rng(2);
  struct Shape {
    std::int64_t outer, axis, inner;
  };
  for (const Shape s :
       {Shape{7, 33, 1}, Shape{2, 200000, 1}, Shape{3, 40, 24}, Shape{2, 30000, 17}, Shape{1, 1, 5}}) {
    Case c;
    const Dims dims{s.outer, s.axis, s.inner};
    c.space.dims = dims;
    c.space.reduce_axis = 1;
    const Tensor x = random_tensor(DType::F32, dims, rng, 5.0);
    const Dims strides{s.axis * s.inner, s.inner, 1};
    const int in = c.input(x, strides);
    const int out = c.output(DType::F32, static_cast<std::size_t>(x.count()), strides);
    VectorProgram& p = c.program;
    const int v = p.load(in, RegType::F32);
    const int m = p.emit(VecOp::ReduceMax, RegType::F32, v);
    const int e = p.emit(VecOp::Exp, RegType::F32, p.emit(VecOp::Sub, RegType::F32, v, m));
    const int sum = p.emit(VecOp::ReduceSum, RegType::F32, e);
    p.store(out, RegType::F32, p.emit(VecOp::Div, RegType::F32, e, sum));
    const Task task = c.task(chip("Ascend310P3"));
    EXPECT_EQ(check_modes(prepare_vector_program, task, chip("Ascend310P3"), c.memory), "")
        << s.axis << "x" << s.inner;
    const auto xs = to_doubles(x);
    const auto got = floats(c.memory, out, DType::F32);
    for (std::int64_t o = 0; o < s.outer; ++o)
      for (std::int64_t i = 0; i < s.inner; ++i) {
        double total = 0;
        for (std::int64_t a = 0; a < s.axis; ++a)
          total += std::exp(xs[static_cast<std::size_t>((o * s.axis + a) * s.inner + i)]);
        for (std::int64_t a = 0; a < s.axis; a += 1 + s.axis / 97) {
          const std::size_t at = static_cast<std::size_t>((o * s.axis + a) * s.inner + i);
          ASSERT_NEAR(
              got[at], std::exp(xs[at]) / total,
              (2e-6 + 1e-7 * std::sqrt(static_cast<double>(s.axis))) * std::exp(xs[at]) / total + 1e-12);
        }
      }
  }
}

// Weights that are the same for all columns (or rows) are reduced once a tile, not once a column; the values
// that they weigh fit UB, or are walked in chunks.
TEST(VectorKernel, ReducesWhatOnlyMovesAlongTheAxis) {
  std::mt19937 rng(11);
  struct Shape {
    std::int64_t outer, rows, cols;
    std::size_t axis;
  };
  for (const Shape s : {Shape{3, 9, 70, 1}, Shape{2, 20000, 40, 1}, Shape{3, 70, 9, 2}, Shape{2, 5, 60000, 2},
                        Shape{2, 7, 1, 1}, Shape{2, 1, 7, 2}}) {
    Case c;
    c.space.dims = {s.outer, s.rows, s.cols};
    c.space.reduce_axis = static_cast<int>(s.axis);
    const bool down = s.axis == 1;
    const std::int64_t length = down ? s.rows : s.cols, others = down ? s.cols : s.rows;
    const Tensor x = random_tensor(DType::F32, c.space.dims, rng, 2.0),
                 w = random_tensor(DType::F32, {s.outer, length}, rng, 4.0);
    const int ix = c.input(x, {s.rows * s.cols, s.cols, 1}),
              iw = c.input(w, {length, down ? 1 : 0, down ? 0 : 1});
    const int out = c.output(DType::F32, static_cast<std::size_t>(s.outer * others),
                             {others, down ? 0 : 1, down ? 1 : 0});
    VectorProgram& p = c.program;
    const int v = p.load(iw, RegType::F32);
    const int m = p.emit(VecOp::ReduceMax, RegType::F32, v);
    const int e = p.emit(VecOp::Exp, RegType::F32, p.emit(VecOp::Sub, RegType::F32, v, m));
    const int total = p.emit(VecOp::ReduceSum, RegType::F32, e);
    const int product = p.emit(VecOp::Mul, RegType::F32, p.load(ix, RegType::F32), e);
    const int sum = p.emit(VecOp::ReduceSum, RegType::F32, product);
    p.store(out, RegType::F32, p.emit(VecOp::Div, RegType::F32, sum, total));
    EXPECT_EQ(check_modes(prepare_vector_program, c.task(chip("Ascend310P3")), chip("Ascend310P3"), c.memory),
              "")
        << s.rows << "x" << s.cols;
    const auto xs = to_doubles(x), ws = to_doubles(w);
    const auto got = floats(c.memory, out, DType::F32);
    for (std::int64_t o = 0; o < s.outer; ++o)
      for (std::int64_t i = 0; i < others; ++i) {
        double weights = 0, value = 0;
        for (std::int64_t k = 0; k < length; ++k) {
          const double f = std::exp(ws[static_cast<std::size_t>(o * length + k)]);
          const std::int64_t at = down ? k * s.cols + i : i * s.cols + k;
          weights += f;
          value += f * xs[static_cast<std::size_t>(o * s.rows * s.cols + at)];
        }
        ASSERT_NEAR(got[static_cast<std::size_t>(o * others + i)], value / weights, 2e-5) << o << " " << i;
      }
  }
}

// Operands whose columns are stretches of memory are turned in UB: y[c][r] = x[r][c] + z[c][r], and its
// transpose again.
TEST(VectorKernel, TransposedOperands) {
  std::mt19937 rng(5);
  for (const DType dtype : {DType::F32, DType::F16})
    for (const auto& [rows, cols] :
         {std::pair{85, 400}, std::pair{3, 5000}, std::pair{700, 2}, std::pair{1, 40}}) {
      Case c;
      c.space.dims = {rows, cols};
      const Tensor x = random_tensor(dtype, {cols, rows}, rng), z = random_tensor(dtype, {rows, cols}, rng);
      const int ix = c.input(x, {1, rows}), iz = c.input(z, {cols, 1});
      const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
      const int sum = c.output(dtype, count, {cols, 1}), turned = c.output(dtype, count, {1, rows});
      VectorProgram& p = c.program;
      const int s = p.emit(VecOp::Add, RegType::F32, p.load(ix, RegType::F32), p.load(iz, RegType::F32));
      p.store(sum, RegType::F32, s);
      p.store(turned, RegType::F32, s);
      EXPECT_EQ(check_modes(prepare_vector_program, c.task(chip()), chip(), c.memory), "")
          << rows << "x" << cols;
      const auto xs = to_doubles(x), zs = to_doubles(z);
      const auto got = floats(c.memory, sum, dtype), back = floats(c.memory, turned, dtype);
      for (int r = 0; r < rows; ++r)
        for (int k = 0; k < cols; ++k) {
          const std::size_t at = static_cast<std::size_t>(r * cols + k),
                            to = static_cast<std::size_t>(k * rows + r);
          ASSERT_NEAR(got[at], xs[to] + zs[at], dtype == DType::F32 ? 1e-6 : 4e-3) << r << "," << k;
          ASSERT_EQ(back[to], got[at]) << r << "," << k;
        }
    }
}

// x is [3][300] in rows and becomes the first lanes of [300][16]: the other lanes of a block hold anything. z
// and y are in rows and have 3 of the 16.
TEST(VectorKernel, OperandsWithFewerColumnsThanTheSpace) {
  std::mt19937 rng(6);
  constexpr int kPixels = 300, kChannels = 3;
  Case c;
  c.space.dims = {kPixels, 16};
  const Tensor x = random_tensor(DType::F32, {kChannels, kPixels}, rng),
               z = random_tensor(DType::F32, {kChannels}, rng);
  const int ix = c.input(x, {1, kPixels}), iz = c.input(z, {0, 1});
  const int blocks = c.output(DType::F16, kPixels * 16, {16, 1}),
            rows = c.output(DType::F32, kPixels * kChannels, {1, kPixels});
  VectorProgram& p = c.program;
  const int sum = p.emit(VecOp::Add, RegType::F32, p.load(ix, RegType::F32), p.load(iz, RegType::F32));
  p.store(blocks, RegType::F32, sum);
  p.store(rows, RegType::F32, sum);
  const auto task =
      make_padded_vector_task(p, c.space, {{kChannels}, {kChannels}, {}, {kChannels}}, c.operands, chip());
  ASSERT_TRUE(task.ok()) << task.status().to_string();
  Memory literal = c.memory;
  ASSERT_TRUE(run_task(*task, chip(), c.memory, aicore::Values::Fast).status.ok());
  const auto exact = run_task(*task, chip(), literal, aicore::Values::Literal, true);
  Memory none = literal;
  EXPECT_EQ(run_task(*task, chip(), none, aicore::Values::None, true).cycles(), exact.cycles());
  const auto xs = to_doubles(x), zs = to_doubles(z);
  for (const Memory* memory : {&c.memory, &literal}) {
    const auto in_blocks = floats(*memory, blocks, DType::F16), in_rows = floats(*memory, rows, DType::F32);
    for (std::size_t i = 0; i < kPixels; ++i)
      for (std::size_t k = 0; k < kChannels; ++k) {
        const double want = xs[k * kPixels + i] + zs[k];
        ASSERT_NEAR(in_blocks[i * 16 + k], want, 4e-3);
        ASSERT_NEAR(in_rows[k * kPixels + i], want, 1e-6);
      }
  }
  // More columns than the space has are refused.
  const auto wide =
      make_padded_vector_task(p, c.space, {{kChannels}, {kChannels}, {17}, {kChannels}}, c.operands, chip());
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(prepare_vector_program(*wide, chip()).status().diagnostic().code, "E10041");
}

TEST(VectorKernel, ReducedStoreAndScalarOperands) {
  std::mt19937 rng(3);
  Case c;
  c.space.dims = {6, 50};
  c.space.reduce_axis = 1;
  const Tensor x = random_tensor(DType::F16, {6, 50}, rng);
  const int in = c.input(x, {50, 1});
  const int out = c.output(DType::F16, 6, {1, 0});
  VectorProgram& p = c.program;
  const int sum = p.emit(VecOp::ReduceSum, RegType::F32, p.load(in, RegType::F32));
  p.store(out, RegType::F32, p.emit(VecOp::Mul, RegType::F32, sum, p.constant(RegType::F32, 1.0 / 50)));
  EXPECT_EQ(check_modes(prepare_vector_program, c.task(chip()), chip(), c.memory), "");
  const auto xs = to_doubles(x);
  const auto got = floats(c.memory, out, DType::F16);
  for (std::size_t r = 0; r < 6; ++r) {
    double mean = 0;
    for (std::size_t i = 0; i < 50; ++i) mean += xs[r * 50 + i] / 50;
    EXPECT_NEAR(got[r], mean, 1e-3);
  }
}

TEST(VectorKernel, IntegersKeep64Bits) {
  Case c;
  c.space.dims = {3};
  const std::vector<std::int64_t> a{(std::int64_t{1} << 40) + 3, -7, 5}, b{2, 3, 0};
  const int ia = c.input(from_int64s(DType::I64, {3}, a), {1}),
            ib = c.input(from_int64s(DType::I64, {3}, b), {1});
  const int mul = c.output(DType::I64, 3, {1}), mod = c.output(DType::I64, 3, {1}),
            less = c.output(DType::Bool, 3, {1});
  VectorProgram& p = c.program;
  const int ra = p.load(ia, RegType::I64), rb = p.load(ib, RegType::I64);
  p.store(mul, RegType::I64, p.emit(VecOp::Mul, RegType::I64, ra, rb));
  p.store(mod, RegType::I64, p.emit(VecOp::Mod, RegType::I64, ra, rb));
  p.store(less, RegType::B8, p.emit(VecOp::Less, RegType::B8, ra, rb));
  p.code.back().type = RegType::B8;
  EXPECT_EQ(check_modes(prepare_vector_program, c.task(chip()), chip(), c.memory), "");
  EXPECT_EQ(c.memory.as<std::int64_t>(mul)[0], (std::int64_t{1} << 41) + 6);
  EXPECT_EQ(c.memory.as<std::int64_t>(mod)[1], 2);
  EXPECT_EQ(c.memory.as<std::int64_t>(mod)[2], 0);
  EXPECT_EQ(c.memory.as<std::uint8_t>(less)[1], 1);
}

Case simple_add() {
  std::mt19937 rng(4);
  Case c;
  c.space.dims = {64, 1000};
  const Tensor x = random_tensor(DType::F32, {64, 1000}, rng);
  const int in = c.input(x, {1000, 1});
  const int out = c.output(DType::F32, 64000, {1000, 1});
  c.program.store(out, RegType::F32,
                  c.program.emit(VecOp::Abs, RegType::F32, c.program.load(in, RegType::F32)));
  return c;
}

TEST(VectorKernel, TilesThatDoNotFitAreInternalErrors) {
  Case c = simple_add();
  Task task = c.task(chip());
  // One core whose UB is smaller than the one the tiles were cut for.
  soc::Chip small = chip();
  small.ub = 1024;
  EXPECT_THROW((void)run_task(prepare_vector_program, task, small, c.memory, aicore::Values::Fast),
               InternalError);
}

TEST(VectorKernel, CorruptedTilesChangeTheOutput) {
  Case c = simple_add();
  Task task = c.task(chip());
  Memory good = c.memory, bad = c.memory;
  ASSERT_TRUE(run_task(prepare_vector_program, task, chip(), good, aicore::Values::Fast).status.ok());
  ASSERT_GT(task.block_tiles.size(), 3U);
  task.block_tiles.back() -= 1;  // the last block loses a tile to nobody
  ASSERT_TRUE(run_task(prepare_vector_program, task, chip(), bad, aicore::Values::Fast).status.ok());
  EXPECT_FALSE(bad == good);
}

TEST(VectorKernel, FuzzedParametersNeverEscape) {
  Case c = simple_add();
  EXPECT_GT(fuzz_params(prepare_vector_program, c.task(chip()), chip(), c.memory, 300, 9), 20);
}

// Every unary float operation against libm in double.
TEST(VectorUnit, ElementaryFunctionsAgreeWithDouble) {
  struct Row {
    VecOp op;
    double (*f)(double);
    double low, high, tolerance;
  };
  const Row rows[] = {
      {VecOp::Exp, std::exp, -80, 80, 3e-7},
      {VecOp::Log, std::log, 1e-30, 1e30, 3e-7},
      {VecOp::Tanh, std::tanh, -9, 9, 4e-7},
      {VecOp::Erf, std::erf, -5, 5, 6e-7},
      {VecOp::Sqrt, std::sqrt, 0, 1e10, 1e-7},
      {VecOp::Sin, std::sin, -1000, 1000, 2e-7},
      {VecOp::Cos, std::cos, -1000, 1000, 2e-7},
      {VecOp::Floor, std::floor, -100, 100, 0},
      {VecOp::Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -30, 30, 4e-7},
      {VecOp::Softplus, [](double x) { return std::log1p(std::exp(x)); }, -30, 30, 5e-7},
      {VecOp::Sinh, std::sinh, -20, 20, 3e-7},
      {VecOp::Atanh, std::atanh, -0.99, 0.99, 3e-7},
      {VecOp::Reciprocal, [](double x) { return 1 / x; }, 0.1, 100, 2e-7},
  };
  std::mt19937 rng(5);
  for (const Row& row : rows) {
    Case c;
    c.space.dims = {4096};
    std::uniform_real_distribution<double> dist(row.low, row.high);
    std::vector<double> values(4096);
    for (double& v : values) v = dist(rng);
    const Tensor x = from_doubles(DType::F32, {4096}, values);
    const int in = c.input(x, {1});
    const int out = c.output(DType::F32, 4096, {1});
    c.program.store(out, RegType::F32,
                    c.program.emit(row.op, RegType::F32, c.program.load(in, RegType::F32)));
    ASSERT_TRUE(run_task(c.task(chip()), chip(), c.memory, aicore::Values::Fast).status.ok());
    const auto xs = to_doubles(x);
    const auto got = floats(c.memory, out, DType::F32);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = row.f(xs[i]);
      ASSERT_NEAR(got[i], want, row.tolerance * std::max(std::abs(want), 1e-3))
          << aicore::name(row.op) << "(" << xs[i] << ")";
    }
  }
}

TEST(VectorUnit, SpecialValuesFollowIeee) {
  const float inf = INFINITY, nan = NAN;
  const std::vector<double> x{inf, -inf, nan, 0.0, -0.0};
  struct Row {
    VecOp op;
    float (*f)(float);
  };
  for (const Row& row :
       {Row{VecOp::Exp, std::exp}, Row{VecOp::Log, std::log}, Row{VecOp::Tanh, std::tanh},
        Row{VecOp::Erf, std::erf}, Row{VecOp::Sqrt, std::sqrt}, Row{VecOp::Abs, std::fabs}}) {
    Case c;
    c.space.dims = {5};
    const int in = c.input(from_doubles(DType::F32, {5}, x), {1});
    const int out = c.output(DType::F32, 5, {1});
    c.program.store(out, RegType::F32,
                    c.program.emit(row.op, RegType::F32, c.program.load(in, RegType::F32)));
    ASSERT_TRUE(run_task(c.task(chip()), chip(), c.memory, aicore::Values::Fast).status.ok());
    const auto got = floats(c.memory, out, DType::F32);
    for (std::size_t i = 0; i < 5; ++i) {
      const float want = row.f(static_cast<float>(x[i]));
      const bool same = std::isnan(want) ? std::isnan(got[i]) : got[i] == want;
      EXPECT_TRUE(same) << aicore::name(row.op) << "(" << x[i] << ") is " << got[i] << ", not " << want;
    }
  }
}

// Rows of a table, named by indices from either end and out of range, plus a bias; long rows go through UB in
// chunks.
TEST(VectorKernel, GathersRows) {
  std::mt19937 rng(9);
  for (const DType index : {DType::I32, DType::I64})
    for (const DType dtype : {DType::F32, DType::F16})
      for (const std::int64_t width : {48, 70000}) {
        const std::int64_t rows = width > 1000 ? 3 : 37, table_rows = 11;
        Case c;
        c.space.dims = {rows, width};
        c.space.reduce_axis = 1;
        const Tensor table = random_tensor(dtype, {table_rows, width}, rng),
                     bias = random_tensor(DType::F32, {width}, rng);
        std::vector<std::int64_t> ids;
        for (std::int64_t r = 0; r < rows; ++r)
          ids.push_back(r == 2 ? 99 : r * 5 % (2 * table_rows) - table_rows);
        const int it = c.input(table, {0, 1}), ib = c.input(bias, {0, 1});
        const int ii = c.input(from_int64s(index, {rows}, ids), {1, 0});
        const int out = c.output(DType::F32, static_cast<std::size_t>(rows * width), {width, 1});
        VectorProgram& p = c.program;
        const int x = p.emit(VecOp::Add, RegType::F32, p.load(it, RegType::F32), p.load(ib, RegType::F32));
        p.store(out, RegType::F32,
                p.emit(VecOp::Sub, RegType::F32, x, p.emit(VecOp::ReduceMax, RegType::F32, x)));
        const std::vector<GatheredOperand> gathered = {{0, 2, table_rows, width}};
        const auto task = make_padded_vector_task(p, c.space, {{}, {}, {}, {}}, c.operands, chip(), gathered);
        ASSERT_TRUE(task.ok()) << task.status().to_string();
        EXPECT_EQ(ii, 2);
        EXPECT_EQ(check_modes(prepare_vector_program, *task, chip(), c.memory), "");
        const auto t = to_doubles(table), b = to_doubles(bias);
        const auto got = floats(c.memory, out, DType::F32);
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::int64_t id = ids[static_cast<std::size_t>(r)];
          std::vector<double> row;
          for (std::int64_t k = 0; k < width; ++k)
            row.push_back(b[static_cast<std::size_t>(k)] +
                          (id >= table_rows
                               ? 0
                               : t[static_cast<std::size_t>((id < 0 ? id + table_rows : id) * width + k)]));
          const double most = *std::max_element(row.begin(), row.end());
          for (std::int64_t k = 0; k < width; ++k)
            ASSERT_NEAR(got[static_cast<std::size_t>(r * width + k)], row[static_cast<std::size_t>(k)] - most,
                        1e-5)
                << r << "," << k;
        }
      }
}

TEST(VectorKernel, RefusesRowsThatAreNoTables) {
  const auto refused = [](DType index, std::int64_t table_rows, const Dims& index_strides) {
    std::mt19937 rng(4);
    Case c;
    c.space.dims = {5, 48};
    c.input(random_tensor(DType::F32, {7, 48}, rng), {0, 1});
    c.input(index == DType::F32 ? random_tensor(index, {10}, rng) : from_int64s(index, {10}, Dims(10, 1)),
            index_strides);
    const int out = c.output(DType::F32, 5 * 48, {48, 1});
    c.program.store(out, RegType::F32,
                    c.program.emit(VecOp::Relu, RegType::F32, c.program.load(0, RegType::F32)));
    const std::vector<GatheredOperand> gathered = {{0, 1, table_rows, 48}};
    return !make_padded_vector_task(c.program, c.space, {{}, {}, {}}, c.operands, chip(), gathered).ok();
  };
  EXPECT_FALSE(refused(DType::I64, 7, {1, 0}));
  EXPECT_TRUE(refused(DType::F32, 7, {1, 0}));
  EXPECT_TRUE(refused(DType::I64, 8, {1, 0})) << "the table has 7 rows";
  EXPECT_TRUE(refused(DType::I64, 7, {2, 0})) << "the indices are no neighbours";
}

// What goes along one axis only is stored by the first of the tiles that have it.
TEST(VectorKernel, TilesShareWhatTheyStore) {
  std::mt19937 rng(5);
  Case c;
  const std::int64_t rows = 300, cols = 4000;
  c.space.dims = {rows, cols};
  c.space.reduce_axis = 0;
  const Tensor x = random_tensor(DType::F32, {rows, cols}, rng), w = random_tensor(DType::F32, {rows}, rng);
  c.input(x, {cols, 1});
  c.input(w, {1, 0});
  const int sum = c.output(DType::F32, static_cast<std::size_t>(cols), {0, 1});
  const int shares = c.output(DType::F32, static_cast<std::size_t>(rows), {1, 0});
  VectorProgram& p = c.program;
  const int share = p.load(1, RegType::F32);
  const int weight = p.emit(VecOp::Div, RegType::F32, share, p.emit(VecOp::ReduceMax, RegType::F32, share));
  const int product = p.emit(VecOp::Mul, RegType::F32, p.load(0, RegType::F32), weight);
  p.store(sum, RegType::F32, p.emit(VecOp::ReduceSum, RegType::F32, product));
  p.store(shares, RegType::F32, weight);
  const Task task = c.task(chip());
  EXPECT_EQ(check_modes(prepare_vector_program, task, chip(), c.memory), "");
  const auto xs = to_doubles(x), ws = to_doubles(w);
  const double most = *std::max_element(ws.begin(), ws.end());
  const auto got = floats(c.memory, shares, DType::F32), sums = floats(c.memory, sum, DType::F32);
  for (std::int64_t r = 0; r < rows; ++r)
    ASSERT_NEAR(got[static_cast<std::size_t>(r)], ws[static_cast<std::size_t>(r)] / most, 1e-5) << r;
  for (std::int64_t k = 0; k < cols; k += 97) {
    double want = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      want += xs[static_cast<std::size_t>(r * cols + k)] * ws[static_cast<std::size_t>(r)] / most;
    ASSERT_NEAR(sums[static_cast<std::size_t>(k)], want, 1e-3 * (1 + std::abs(want))) << k;
  }
}

}  // namespace
}  // namespace atc::kernels::testing
