#include "kernels/scatter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness.h"

namespace atc::kernels {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using aicore::ScatterOp;
using aicore::Values;

struct Problem {
  ScatterSpec spec;
  DType dtype = DType::F32;
  Memory memory;
  std::vector<Operand> operands;
  std::vector<std::int64_t> indices;
};

Tensor small_values(DType dtype, Dims shape, std::mt19937& rng) {
  std::vector<double> v(static_cast<std::size_t>(element_count(shape)));
  for (double& x : v) x = static_cast<double>(static_cast<int>(rng() % 7) - 3);
  return from_doubles(dtype, std::move(shape), v);
}

/// `beyond`: some indices are out of range.
Problem random_problem(const ScatterSpec& s, DType dtype, DType index_type, bool beyond, std::mt19937& rng) {
  Problem p;
  p.spec = s;
  p.dtype = dtype;
  const int data = p.memory.add(small_values(dtype, {s.batch, s.axis, s.inner}, rng));
  for (std::int64_t j = 0; j < s.batch * s.count; ++j) {
    std::int64_t i = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(2 * s.axis)) - s.axis;
    if (beyond && rng() % 4 == 0)
      i = rng() % 2 == 0 ? s.axis + static_cast<std::int64_t>(rng() % 1000) : -s.axis - 1;
    p.indices.push_back(i);
  }
  const int index = p.memory.add(from_int64s(index_type, {s.batch, s.count}, p.indices));
  const int updates = p.memory.add(small_values(dtype, {s.batch, s.count, s.inner}, rng));
  const int out = p.memory.add(p.memory[data].size());
  p.operands = {p.memory.operand(data, dtype), p.memory.operand(index, index_type),
                p.memory.operand(updates, dtype), p.memory.operand(out, dtype, true)};
  return p;
}

Tensor tensor(const Problem& p, int i) {
  const auto& bytes = p.memory[p.operands[static_cast<std::size_t>(i)].tensor];
  MutableTensor t(p.dtype, {std::ssize(bytes) / (bit_width(p.dtype) / 8)});
  std::memcpy(t.bytes().data(), bytes.data(), bytes.size());
  return std::move(t).freeze();
}

double met(ScatterOp op, double a, double b) {
  switch (op) {
    case ScatterOp::Set:
      return b;
    case ScatterOp::Add:
      return a + b;
    case ScatterOp::Mul:
      return a * b;
    case ScatterOp::Max:
      return std::max(a, b);
    case ScatterOp::Min:
      return std::min(a, b);
  }
  return 0;
}

std::vector<double> reference(const Problem& p) {
  const ScatterSpec& s = p.spec;
  std::vector<double> out = to_doubles(tensor(p, 0));
  const std::vector<double> u = to_doubles(tensor(p, 2));
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t j = 0; j < s.count; ++j) {
      std::int64_t row = p.indices[static_cast<std::size_t>(b * s.count + j)];
      if (row < 0) row += s.axis;
      if (row < 0 || row >= s.axis) continue;
      for (std::int64_t i = 0; i < s.inner; ++i) {
        double& x = out[static_cast<std::size_t>((b * s.axis + row) * s.inner + i)];
        x = met(s.op, x, u[static_cast<std::size_t>((b * s.count + j) * s.inner + i)]);
      }
    }
  return out;
}

void expect_scatters(const ScatterSpec& s, DType dtype, DType index_type, bool beyond, std::mt19937& rng,
                     std::string_view soc = "Ascend910B3") {
  Problem p = random_problem(s, dtype, index_type, beyond, rng);
  auto task = make_scatter(s, p.operands, chip(soc));
  ASSERT_TRUE(task.ok()) << task.status().to_string();
  const std::string what = to_string(Dims{s.batch, s.axis, s.count, s.inner}) + " " +
                           std::string(name(dtype)) + " op " + std::to_string(static_cast<int>(s.op));
  const std::vector<double> expected = reference(p);
  ASSERT_EQ(check_modes(prepare_scatter, *task, chip(soc), p.memory), "") << what;
  ASSERT_EQ(to_doubles(tensor(p, 3)), expected) << what;
}

// Small whole numbers are exact in every dtype; products are kept to few updates.
TEST(Scatter, RandomShapes) {
  constexpr DType kTypes[] = {DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::I16};
  std::mt19937 rng(1);
  for (int i = 0; i < 200; ++i) {
    ScatterSpec s;
    s.op = static_cast<ScatterOp>(rng() % aicore::kScatterOpCount);
    s.batch = 1 + static_cast<std::int64_t>(rng() % 4);
    s.axis = 1 + static_cast<std::int64_t>(rng() % 60);
    s.count = 1 + static_cast<std::int64_t>(rng() % (s.op == ScatterOp::Mul ? 3 : 80));
    s.inner = 1 + static_cast<std::int64_t>(rng() % (i % 2 == 0 ? 4 : 100));
    expect_scatters(s, kTypes[rng() % std::size(kTypes)], rng() % 2 == 0 ? DType::I32 : DType::I64,
                    i % 3 == 0, rng, i % 2 == 0 ? "Ascend910B3" : "Ascend310P3");
  }
}

TEST(Scatter, LargeShapes) {
  std::mt19937 rng(2);
  expect_scatters({ScatterOp::Set, 1, 4096, 7, 128}, DType::F16, DType::I64, false, rng);   // a cache
  expect_scatters({ScatterOp::Set, 1, 3, 2, 70000}, DType::F32, DType::I64, false, rng);    // rows beyond UB
  expect_scatters({ScatterOp::Add, 1, 20000, 3000, 1}, DType::F32, DType::I32, true, rng);  // single elements
  expect_scatters({ScatterOp::Max, 50, 300, 40, 3}, DType::F16, DType::I64, false, rng);
  expect_scatters({ScatterOp::Add, 1, 5, 5000, 33}, DType::I64, DType::I64, false, rng);  // all to a few rows
}

TEST(Scatter, LaterUpdatesWin) {
  Problem p;
  p.spec = {ScatterOp::Set, 1, 4, 3, 1};
  p.memory.add(from_doubles(DType::F32, {4}, std::vector<double>{0, 0, 0, 0}));
  p.memory.add(from_int64s(DType::I64, {3}, std::vector<std::int64_t>{2, -2, 2}));
  p.memory.add(from_doubles(DType::F32, {3}, std::vector<double>{1, 2, 3}));
  p.memory.add(16);
  p.operands = {p.memory.operand(0, DType::F32), p.memory.operand(1, DType::I64),
                p.memory.operand(2, DType::F32), p.memory.operand(3, DType::F32, true)};
  auto task = make_scatter(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_EQ(check_modes(prepare_scatter, *task, chip(), p.memory), "");
  EXPECT_EQ(floats(p.memory, 3, DType::F32), (std::vector<float>{0, 0, 3, 0}));
}

// An index that would name a row once it is cut to 32 bits names none.
TEST(Scatter, IndicesBeyond32Bits) {
  Problem p;
  p.spec = {ScatterOp::Set, 1, 4, 2, 1};
  p.memory.add(from_doubles(DType::F32, {4}, std::vector<double>{5, 6, 7, 8}));
  p.memory.add(from_int64s(DType::I64, {2},
                           std::vector<std::int64_t>{(std::int64_t{1} << 32) + 1, -(std::int64_t{1} << 32)}));
  p.memory.add(from_doubles(DType::F32, {2}, std::vector<double>{1, 2}));
  p.memory.add(16);
  p.operands = {p.memory.operand(0, DType::F32), p.memory.operand(1, DType::I64),
                p.memory.operand(2, DType::F32), p.memory.operand(3, DType::F32, true)};
  auto task = make_scatter(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_TRUE(run_task(prepare_scatter, *task, chip(), p.memory, Values::Fast).status.ok());
  EXPECT_EQ(floats(p.memory, 3, DType::F32), (std::vector<float>{5, 6, 7, 8}));
}

TEST(Scatter, NothingToDo) {
  std::mt19937 rng(3);
  expect_scatters({ScatterOp::Set, 2, 5, 0, 7}, DType::F32, DType::I64, false, rng);
  expect_scatters({ScatterOp::Set, 0, 5, 3, 7}, DType::F32, DType::I64, false, rng);
}

TEST(Scatter, RowsAreSharedOut) {
  std::mt19937 rng(4);
  Problem p = random_problem({ScatterOp::Add, 1, 40000, 64, 16}, DType::F32, DType::I64, false, rng);
  auto task = make_scatter(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->blocks(), chip().vector_blocks());
  const std::vector<double> expected = reference(p);
  task->block_tiles.back() -= 1;
  ASSERT_TRUE(run_task(prepare_scatter, *task, chip(), p.memory, Values::Fast).status.ok());
  EXPECT_NE(to_doubles(tensor(p, 3)), expected);
}

TEST(Scatter, RefusesWhatDoesNotFit) {
  std::mt19937 rng(5);
  const ScatterSpec s{ScatterOp::Add, 3, 5, 6, 7};
  const Problem p = random_problem(s, DType::F32, DType::I64, false, rng);
  auto status = [&](auto change) {
    ScatterSpec spec = s;
    std::vector<Operand> operands = p.operands;
    change(spec, operands);
    return make_scatter(spec, operands, chip()).status().to_string();
  };
  auto says = [&](auto change, const char* what) {
    EXPECT_NE(status(change).find(what), std::string::npos) << status(change);
  };
  EXPECT_EQ(status([](auto&, auto&) {}), "");
  says([](auto& x, auto&) { x.axis = 6; }, "data is smaller");
  says([](auto& x, auto&) { x.batch = INT64_MAX / 2; }, "data is smaller");
  says([](auto& x, auto&) { x.count = 7; }, "fewer updates");
  says([](auto&, auto& o) { o[1].bytes -= 8; }, "fewer indices");
  says([](auto&, auto& o) { o[3].bytes -= 4; }, "output is smaller");
  says([](auto&, auto& o) { o[1].dtype = DType::F32; }, "neither i32 nor i64");
  says([](auto&, auto& o) { o[3].output = false; }, "writes to an input");
  says([](auto&, auto& o) { o[2].dtype = DType::I32; }, "different types");
  says([](auto&, auto& o) { o[0].dtype = o[2].dtype = o[3].dtype = DType::Bool; }, "no arithmetic on bool");
  says([](auto& x, auto&) { x.op = static_cast<ScatterOp>(9); }, "unknown operation");
}

TEST(Scatter, CorruptParametersNeverCrash) {
  std::mt19937 rng(6);
  const Problem p = random_problem({ScatterOp::Add, 3, 50, 60, 70}, DType::F16, DType::I32, true, rng);
  auto task = make_scatter(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_scatter, *task, chip(), p.memory, 2000, 6), 500);
}

}  // namespace
}  // namespace atc::kernels
