#include "kernels/gather.h"

#include <gtest/gtest.h>

#include "harness.h"

namespace atc::kernels {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using aicore::Values;

DType dtype_of(int e) { return e == 1 ? DType::U8 : e == 2 ? DType::F16 : e == 4 ? DType::F32 : DType::I64; }

struct Problem {
  GatherSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  std::vector<std::int64_t> indices;
};

/// `beyond`: some indices are out of range.
Problem random_problem(const GatherSpec& s, DType index_type, bool beyond, std::mt19937& rng) {
  Problem p;
  p.spec = s;
  const int data =
      p.memory.add(static_cast<std::size_t>(s.batch * s.outer * s.axis * s.inner * s.element_bytes));
  for (std::byte& b : p.memory[data]) b = static_cast<std::byte>(rng());
  for (std::int64_t j = 0; j < s.batch * s.count; ++j) {
    std::int64_t i = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(2 * s.axis)) - s.axis;
    if (beyond && rng() % 4 == 0)
      i = rng() % 2 == 0 ? s.axis + static_cast<std::int64_t>(rng() % 1000) : -s.axis - 1;
    p.indices.push_back(i);
  }
  const int index = p.memory.add(from_int64s(index_type, {s.batch, s.count}, p.indices));
  const int out =
      p.memory.add(static_cast<std::size_t>(s.batch * s.outer * s.count * s.inner * s.element_bytes));
  p.operands = {p.memory.operand(data, dtype_of(s.element_bytes)), p.memory.operand(index, index_type),
                p.memory.operand(out, dtype_of(s.element_bytes), true)};
  return p;
}

std::vector<std::byte> reference(const Problem& p) {
  const GatherSpec& s = p.spec;
  const std::int64_t row = s.inner * s.element_bytes;
  std::vector<std::byte> out(static_cast<std::size_t>(s.batch * s.outer * s.count * row));
  for (std::int64_t o = 0; o < s.batch * s.outer; ++o)
    for (std::int64_t j = 0; j < s.count; ++j) {
      std::int64_t i = p.indices[static_cast<std::size_t>(o / s.outer * s.count + j)];
      if (i < 0) i += s.axis;
      if (i >= 0 && i < s.axis)
        std::memcpy(out.data() + (o * s.count + j) * row, p.memory[0].data() + (o * s.axis + i) * row,
                    static_cast<std::size_t>(row));
    }
  return out;
}

std::string name_of(const GatherSpec& s) {
  return to_string(Dims{s.batch, s.outer, s.axis, s.count, s.inner}) + " e" + std::to_string(s.element_bytes);
}

void expect_gathers(const GatherSpec& s, DType index_type, bool beyond, std::mt19937& rng,
                    std::string_view soc = "Ascend910B3") {
  Problem p = random_problem(s, index_type, beyond, rng);
  auto task = make_gather(s, p.operands, chip(soc));
  ASSERT_TRUE(task.ok()) << task.status().to_string();
  ASSERT_EQ(check_modes(prepare_gather, *task, chip(soc), p.memory), "") << name_of(s);
  ASSERT_EQ(p.memory[2], reference(p)) << name_of(s);
}

TEST(Gather, RandomShapes) {
  std::mt19937 rng(1);
  for (int i = 0; i < 200; ++i) {
    GatherSpec s;
    s.element_bytes = 1 << rng() % 4;
    s.outer = 1 + static_cast<std::int64_t>(rng() % 12);
    s.axis = 1 + static_cast<std::int64_t>(rng() % 60);
    s.count = 1 + static_cast<std::int64_t>(rng() % 80);
    s.inner = 1 + static_cast<std::int64_t>(rng() % (i % 2 == 0 ? 4 : 100));
    s.batch = 1 + static_cast<std::int64_t>(rng() % 3);
    expect_gathers(s, rng() % 2 == 0 ? DType::I32 : DType::I64, i % 3 == 0, rng,
                   i % 2 == 0 ? "Ascend910B3" : "Ascend310P3");
  }
}

TEST(Gather, LargeShapes) {
  std::mt19937 rng(2);
  expect_gathers({4, 1, 1000, 77, 128}, DType::I64, false, rng);  // an embedding
  expect_gathers({2, 3, 50, 1, 40000}, DType::I64, false, rng);   // rows longer than UB
  expect_gathers({4, 300, 40, 100, 1}, DType::I32, false, rng);   // the last axis
  expect_gathers({4, 1, 100000, 500, 1}, DType::I64, true, rng);  // short rows of a long axis
  expect_gathers({2, 1, 300, 70000, 1}, DType::I32, true, rng);   // more indices than fit in UB
  expect_gathers({8, 2000, 10, 1, 3}, DType::I64, false, rng);    // one index
}

TEST(Gather, NothingToGather) {
  std::mt19937 rng(3);
  expect_gathers({4, 3, 5, 0, 7}, DType::I64, false, rng);
  expect_gathers({4, 0, 5, 3, 7}, DType::I64, false, rng);
  expect_gathers({4, 2, 5, 3, 7, 0}, DType::I64, false, rng);
}

TEST(Gather, RefusesWhatDoesNotFit) {
  std::mt19937 rng(4);
  const GatherSpec s{4, 3, 5, 6, 7};
  const Problem p = random_problem(s, DType::I64, false, rng);
  auto status = [&](auto change) {
    GatherSpec spec = s;
    std::vector<Operand> operands = p.operands;
    change(spec, operands);
    return make_gather(spec, operands, chip()).status().to_string();
  };
  EXPECT_EQ(status([](auto&, auto&) {}), "");
  EXPECT_NE(status([](auto& g, auto&) { g.axis = 6; }).find("data is smaller"), std::string::npos);
  EXPECT_NE(status([](auto& g, auto&) { g.outer = INT64_MAX / 2; }).find("data is smaller"),
            std::string::npos);
  EXPECT_NE(status([](auto& g, auto&) { g.count = 7; }).find("fewer indices"), std::string::npos);
  EXPECT_NE(status([](auto& g, auto&) { g.batch = 2; }).find("data is smaller"), std::string::npos);
  EXPECT_NE(status([](auto& g, auto&) { g.batch = -1; }).find("extent out of range"), std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[2].bytes -= 4; }).find("output is smaller"), std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[1].dtype = DType::F32; }).find("neither i32 nor i64"),
            std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[2].output = false; }).find("writes to an input"),
            std::string::npos);
  EXPECT_NE(status([](auto& g, auto&) { g.element_bytes = 3; }).find("3 bytes"), std::string::npos);
}

TEST(Gather, CorruptParametersNeverCrash) {
  std::mt19937 rng(5);
  for (const GatherSpec& s : {GatherSpec{4, 3, 50, 60, 70}, GatherSpec{2, 30, 50, 60, 1}}) {
    const Problem p = random_problem(s, DType::I32, true, rng);
    auto task = make_gather(s, p.operands, chip());
    ASSERT_TRUE(task.ok());
    EXPECT_GT(fuzz_params(prepare_gather, *task, chip(), p.memory, 2000, 6), 500);
  }
}

TEST(Gather, TileBeyondUbIsAnInternalError) {
  std::mt19937 rng(7);
  const GatherSpec s{4, 1, 600, 500, 200};
  Problem p = random_problem(s, DType::I32, false, rng);
  auto task = make_gather(s, p.operands, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_LT(task->params[8], 500);
  task->params[8] = 500;  // all rows in one tile: 400 kB
  task->block_tiles = {0, 1};
  EXPECT_THROW(run_task(prepare_gather, *task, chip(), p.memory, Values::Literal), InternalError);
}

TEST(Gather, BlocksDecideWhatIsWritten) {
  std::mt19937 rng(8);
  const GatherSpec s{4, 1, 600, 500, 200};
  Problem p = random_problem(s, DType::I32, false, rng);
  auto task = make_gather(s, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->blocks(), chip().vector_blocks());
  task->block_tiles[1] -= 1;
  for (std::size_t b = 2; b < task->block_tiles.size(); ++b) task->block_tiles[b] = task->block_tiles[1];
  ASSERT_TRUE(run_task(prepare_gather, *task, chip(), p.memory, Values::Fast).status.ok());
  EXPECT_NE(p.memory[2], reference(p));
  task->block_tiles.back() = 1 << 20;
  EXPECT_FALSE(run_task(prepare_gather, *task, chip(), p.memory, Values::Fast).status.ok());
}

}  // namespace
}  // namespace atc::kernels
