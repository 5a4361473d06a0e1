// Vector programs and attentions whose operands are in FRACTAL_NZ.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fractal_testing.h"
#include "kernels/attention.h"
#include "kernels/in_place.h"
#include "kernels/padded_vector.h"

namespace atc::kernels::testing {
namespace {

/// A program over [batch, rows, cols] that reads x, y and gamma [cols] and writes z.
struct Problem {
  VectorProgram program;
  VectorSpace space;
  std::vector<OperandLayout> layouts;
  Memory memory;
  std::vector<Operand> operands;
  Fractal at;
  Tensor x, y, gamma;
  DType dtype = DType::F16;
  bool out_in_blocks = false;
  int out = -1;
};

enum class Kind { Elementwise, NormRows, SumDownRows };

Problem make_problem(Kind kind, const Fractal& at, DType dtype, int blocked, std::uint32_t seed) {
  std::mt19937 rng(seed);
  Problem p;
  p.at = at;
  p.dtype = dtype;
  p.x = random_tensor(dtype, {at.batch, at.rows, at.cols}, rng);
  p.y = random_tensor(dtype, {at.batch, at.rows, at.cols}, rng);
  p.gamma = random_tensor(DType::F32, {at.cols}, rng);
  p.space.dims = {at.batch, at.rows, at.cols};
  const auto add = [&](int tensor, bool output, DType type, Dims strides, std::int64_t block_stride) {
    p.operands.push_back(p.memory.operand(tensor, type, output));
    p.space.strides.push_back(std::move(strides));
    p.space.offsets.push_back(0);
    p.layouts.push_back({0, block_stride});
  };
  const auto add_matrix = [&](int tensor, bool output, bool blocks) {
    if (blocks)
      add(tensor, output, dtype, {at.matrix(), 16, 1}, at.block_stride());
    else
      add(tensor, output, dtype, {at.rows * at.cols, at.cols, 1}, 0);
  };
  const bool x_blocks = (blocked & 1) != 0, y_blocks = (blocked & 2) != 0;
  add_matrix(x_blocks ? add_fractal(p.memory, p.x, at) : p.memory.add(p.x), false, x_blocks);
  add_matrix(y_blocks ? add_fractal(p.memory, p.y, at) : p.memory.add(p.y), false, y_blocks);
  add(p.memory.add(p.gamma), false, DType::F32, {0, 0, 1}, 0);
  p.out_in_blocks = (blocked & 4) != 0;
  p.out = p.out_in_blocks
              ? add_fractal_output(p.memory, dtype, at)
              : p.memory.add(byte_size(dtype, static_cast<std::size_t>(at.batch * at.rows * at.cols)));
  add_matrix(p.out, true, p.out_in_blocks);

  VectorProgram& v = p.program;
  const auto f = [&](VecOp op, int a, int b = -1) { return v.emit(op, RegType::F32, a, b); };
  int r = f(VecOp::Add, v.load(0, RegType::F32), v.load(1, RegType::F32));
  if (kind != Kind::Elementwise) {
    p.space.reduce_axis = kind == Kind::NormRows ? 2 : 1;
    r = f(VecOp::Sub, r, f(VecOp::ReduceMax, r));
  }
  r = f(VecOp::Mul, r, v.load(2, RegType::F32));
  v.store(3, RegType::F32, r);
  return p;
}

void expect_right(const Problem& p, const Memory& memory) {
  const auto x = to_doubles(p.x), y = to_doubles(p.y), gamma = to_doubles(p.gamma);
  const Fractal& f = p.at;
  bool kept = true;
  const auto got =
      p.out_in_blocks ? fractal_floats(memory, p.out, p.dtype, f, &kept) : floats(memory, p.out, p.dtype);
  EXPECT_TRUE(kept) << "padding was written";
  const auto sum = [&](std::int64_t b, std::int64_t r, std::int64_t c) {
    const std::size_t i = static_cast<std::size_t>((b * f.rows + r) * f.cols + c);
    return x[i] + y[i];
  };
  std::map<std::pair<std::int64_t, std::int64_t>, double> largest;  // of a row or column of a batch
  const auto reduced = [&](std::int64_t b, std::int64_t r, std::int64_t c) {
    return std::pair(b, p.space.reduce_axis == 2 ? r : c);
  };
  for (std::int64_t b = 0; b < f.batch; ++b)
    for (std::int64_t r = 0; r < f.rows; ++r)
      for (std::int64_t c = 0; c < f.cols; ++c) {
        const auto [at, added] = largest.try_emplace(reduced(b, r, c), sum(b, r, c));
        at->second = std::max(at->second, sum(b, r, c));
      }
  for (std::int64_t b = 0; b < f.batch; ++b)
    for (std::int64_t r = 0; r < f.rows; ++r)
      for (std::int64_t c = 0; c < f.cols; ++c) {
        const double most = p.space.reduce_axis < 0 ? 0 : largest.at(reduced(b, r, c));
        const double want = (sum(b, r, c) - most) * gamma[static_cast<std::size_t>(c)];
        ASSERT_NEAR(got[static_cast<std::size_t>((b * f.rows + r) * f.cols + c)], want,
                    1e-5 + std::abs(want) * (p.dtype == DType::F16 ? 1e-3 : 8e-3))
            << b << "," << r << "," << c;
      }
}

TEST(FractalVector, EveryOperandInEitherFormat) {
  std::uint32_t seed = 1;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (Kind kind : {Kind::Elementwise, Kind::NormRows, Kind::SumDownRows})
      for (const Fractal at :
           {Fractal{1, 64, 32}, Fractal{2, 37, 96}, Fractal{1, 130, 256}, Fractal{3, 2, 48}})
        for (int blocked = 1; blocked < 8; ++blocked) {
          const DType dtype = blocked % 3 == 0 ? DType::BF16 : DType::F16;
          Problem p = make_problem(kind, at, dtype, blocked, seed++);
          const auto task = make_padded_vector_task(p.program, p.space, p.layouts, p.operands, chip(soc));
          ASSERT_TRUE(task.ok()) << task.status().to_string();
          EXPECT_EQ(check_modes(prepare_vector_program, *task, chip(soc), p.memory), "");
          expect_right(p, p.memory);
        }
}

// Rows that UB does not hold are walked in chunks of whole blocks, down columns too.
TEST(FractalVector, LongAxesAreWalkedInChunks) {
  for (Kind kind : {Kind::NormRows, Kind::SumDownRows, Kind::Elementwise}) {
    const Fractal at = kind == Kind::SumDownRows ? Fractal{1, 20000, 32} : Fractal{1, 3, 40000};
    Problem p = make_problem(kind, at, DType::F16, 7, 9);
    const auto task = make_padded_vector_task(p.program, p.space, p.layouts, p.operands, chip());
    ASSERT_TRUE(task.ok()) << task.status().to_string();
    EXPECT_EQ(check_modes(prepare_vector_program, *task, chip(), p.memory), "");
    expect_right(p, p.memory);
  }
}

// Rows of a table, gathered, and what is added to them in blocks.
TEST(FractalVector, BesideRowsOfATable) {
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Fractal at : {Fractal{1, 64, 32}, Fractal{2, 37, 96}}) {
      std::mt19937 rng(21);
      Memory memory;
      const Tensor table = random_tensor(DType::F16, {7, at.cols}, rng);
      const Tensor x = random_tensor(DType::F16, {at.batch, at.rows, at.cols}, rng);
      std::vector<double> names;
      for (std::int64_t i = 0; i < at.batch * at.rows; ++i) names.push_back(static_cast<double>(i * 5 % 7));
      const Tensor index = from_doubles(DType::I32, {at.batch, at.rows}, names);
      const int out = add_fractal_output(memory, DType::F16, at);
      const std::vector<Operand> operands = {
          memory.operand(memory.add(table), DType::F16), memory.operand(memory.add(index), DType::I32),
          memory.operand(add_fractal(memory, x, at), DType::F16), memory.operand(out, DType::F16, true)};
      VectorSpace space;
      space.dims = {at.batch, at.rows, at.cols};
      space.strides = {{0, 0, 1}, {at.rows, 1, 0}, {at.matrix(), 16, 1}, {at.matrix(), 16, 1}};
      space.offsets = {0, 0, 0, 0};
      VectorProgram v;
      const int row = v.load(0, RegType::F32);
      v.store(3, RegType::F32, v.emit(VecOp::Add, RegType::F32, row, v.load(2, RegType::F32)));
      const OperandLayout blocks{0, at.block_stride()};
      const auto task = make_padded_vector_task(v, space, {{}, {}, blocks, blocks}, operands, chip(soc),
                                                {{0, 1, 7, at.cols}});
      ASSERT_TRUE(task.ok()) << task.status().to_string();
      EXPECT_EQ(check_modes(prepare_vector_program, *task, chip(soc), memory), "");
      bool kept = true;
      const auto got = fractal_floats(memory, out, DType::F16, at, &kept);
      EXPECT_TRUE(kept) << "padding was written";
      const auto tv = to_doubles(table), xv = to_doubles(x);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t cols = static_cast<std::size_t>(at.cols), r = i / cols;
        const double want = xv[i] + tv[static_cast<std::size_t>(names[r]) * cols + i % cols];
        ASSERT_NEAR(got[i], want, 1e-5 + std::abs(want) * 1e-3) << i;
      }
    }
}

TEST(FractalVector, AnOutputTakesThePlaceOfAnOperandInTheSameFormatOnly) {
  for (int blocked = 0; blocked < 8; ++blocked) {
    Problem p = make_problem(Kind::NormRows, {2, 40, 64}, DType::F16, blocked, 10);
    const auto task = make_padded_vector_task(p.program, p.space, p.layouts, p.operands, chip());
    ASSERT_TRUE(task.ok());
    const bool out = (blocked & 4) != 0;
    EXPECT_EQ(may_share(*task, 0, 3), ((blocked & 1) != 0) == out) << blocked;
    EXPECT_EQ(may_share(*task, 1, 3), ((blocked & 2) != 0) == out) << blocked;
  }
}

TEST(FractalVector, RefusesWhatItCannotWalk) {
  Problem p = make_problem(Kind::Elementwise, {1, 40, 64}, DType::F16, 7, 11);
  EXPECT_TRUE(make_padded_vector_task(p.program, p.space, p.layouts, p.operands, chip()).ok());
  Problem ragged = p;  // columns that are no whole blocks
  ragged.space.dims[2] = 63;
  EXPECT_THROW(
      (void)make_padded_vector_task(ragged.program, ragged.space, ragged.layouts, ragged.operands, chip()),
      InternalError);
  Problem apart = p;  // rows that do not follow each other
  apart.space.strides[0][1] = 32;
  EXPECT_THROW(
      (void)make_padded_vector_task(apart.program, apart.space, apart.layouts, apart.operands, chip()),
      InternalError);
  const auto task = make_padded_vector_task(p.program, p.space, p.layouts, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_vector_program, *task, chip(), p.memory, 400, 4), 40);
}

/// An attention over heads side by side, [batch, positions, heads * d], all in FRACTAL_NZ or all row-major.
struct Heads {
  AttentionSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  Fractal out_at;
  int out = -1;
};

Heads make_heads(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t rows,
                 std::int64_t positions, std::int64_t d, DType dtype, bool blocks, bool causal,
                 bool masked = false) {
  std::mt19937 rng(12);
  Heads h;
  AttentionSpec& s = h.spec;
  s.batch = batch;
  s.heads = heads;
  s.kv_heads = kv_heads;
  s.rows = rows;
  s.d = s.dv = d;
  s.scale = 0.2;
  s.causal = causal;
  const auto address = [&](const Fractal& f) {
    return blocks ? HeadAddress{0, f.matrix(), d / 16 * f.block_stride(), 16, f.block_stride()}
                  : HeadAddress{0, f.rows * f.cols, d, f.cols};
  };
  const Fractal q{batch, rows, heads * d}, kv{batch, positions, kv_heads * d};
  h.out_at = q;
  s.q = s.out = address(q);
  s.segments = {{positions, address(kv), address(kv)}};
  const auto add = [&](const Fractal& f) {
    const Tensor t = random_tensor(dtype, {f.batch, f.rows, f.cols}, rng);
    h.operands.push_back(h.memory.operand(blocks ? add_fractal(h.memory, t, f) : h.memory.add(t), dtype));
  };
  add(q);
  h.out = blocks ? add_fractal_output(h.memory, dtype, q)
                 : h.memory.add(byte_size(dtype, static_cast<std::size_t>(batch * rows * heads * d)));
  h.operands.push_back(h.memory.operand(h.out, dtype, true));
  const Tensor bias = random_tensor(dtype, {heads, rows, positions}, rng);
  std::vector<double> kept;  // the first position always
  for (std::int64_t i = 0; i < rows * positions; ++i) kept.push_back(i % positions == 0 || i % 3 != 0);
  if (masked) {
    s.mask = {AttentionMask::Kind::Keep, 0, 0, 0, positions, 1, -1e4};
    s.bias = {AttentionMask::Kind::Add, 0, 0, rows * positions, positions, 1, 0};
    const Tensor mask = from_doubles(DType::Bool, {rows, positions}, kept);
    h.operands.push_back(h.memory.operand(h.memory.add(mask), DType::Bool));
    h.operands.push_back(h.memory.operand(h.memory.add(bias), dtype));
  }
  add(kv);
  add(kv);
  return h;
}

TEST(FractalAttention, ComputesWhatRowsGive) {
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (DType dtype : {DType::F16, DType::BF16, DType::F32})
      for (const int kind : {0, 1, 2}) {
        const bool causal = kind == 1, masked = kind == 2;
        Heads rows = make_heads(2, 4, 2, 37, 50, 32, dtype, false, causal, masked);
        Heads blocks = make_heads(2, 4, 2, 37, 50, 32, dtype, true, causal, masked);
        const auto row_task = make_attention_task(rows.spec, rows.operands, chip(soc));
        const auto block_task = make_attention_task(blocks.spec, blocks.operands, chip(soc));
        ASSERT_TRUE(row_task.ok() && block_task.ok());
        // Fast and Literal add in another order; each gives the bits that it gives of rows.
        Memory none = blocks.memory;
        for (const auto mode : {aicore::Values::Fast, aicore::Values::Literal}) {
          Memory row_memory = rows.memory, block_memory = blocks.memory;
          ASSERT_TRUE(run_task(*row_task, chip(soc), row_memory, mode).status.ok());
          const auto run = run_task(*block_task, chip(soc), block_memory, mode, true);
          ASSERT_TRUE(run.status.ok()) << run.status.to_string();
          bool kept = true;
          EXPECT_EQ(fractal_floats(block_memory, blocks.out, dtype, blocks.out_at, &kept),
                    floats(row_memory, rows.out, dtype));
          EXPECT_TRUE(kept) << "padding was written";
          EXPECT_EQ(run_task(*block_task, chip(soc), none, aicore::Values::None, true).cycles(),
                    run.cycles());
        }
      }
}

TEST(FractalAttention, RefusesHeadsThatAreNoBlocks) {
  const Heads good = make_heads(1, 2, 2, 20, 20, 32, DType::F16, true, false);
  const auto made = [&](auto edit) {
    Heads h = good;
    edit(h.spec);
    const auto task = make_attention_task(h.spec, h.operands, chip());
    return task.ok();
  };
  EXPECT_TRUE(made([](AttentionSpec&) {}));
  EXPECT_FALSE(made([](AttentionSpec& s) { s.d = 24; }));
  EXPECT_FALSE(made([](AttentionSpec& s) { s.q.row_stride = 64; }));
  EXPECT_FALSE(made([](AttentionSpec& s) { s.out.block_stride *= 8; }));  // beyond the operand
  EXPECT_FALSE(made([](AttentionSpec& s) { s.k_transposed = true; }));
  const auto task = make_attention_task(good.spec, good.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_attention, *task, chip(), good.memory, 300, 5), 40);
}

}  // namespace
}  // namespace atc::kernels::testing
