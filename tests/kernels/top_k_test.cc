#include "kernels/top_k.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "harness.h"

namespace atc::kernels {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using aicore::Values;

struct Problem {
  TopKSpec spec;
  DType dtype = DType::F32, index_type = DType::I64;
  Memory memory;
  std::vector<Operand> operands;
  std::vector<double> values;
  std::vector<std::int64_t> names;
};

// Few values, so that there are many equal ones.
Problem random_problem(const TopKSpec& s, DType dtype, DType index_type, std::mt19937& rng,
                       int distinct = 9) {
  Problem p;
  p.spec = s;
  p.dtype = dtype;
  p.index_type = index_type;
  p.values.resize(static_cast<std::size_t>(s.rows * s.axis));
  for (double& v : p.values) v = static_cast<int>(rng() % static_cast<unsigned>(distinct)) - distinct / 2;
  p.names.resize(p.values.size());
  for (std::size_t i = 0; i < p.names.size(); ++i) p.names[i] = static_cast<std::int64_t>(i) % s.axis;
  for (std::int64_t r = 0; s.named && r < s.rows; ++r)
    std::shuffle(p.names.begin() + r * s.axis, p.names.begin() + (r + 1) * s.axis, rng);
  p.operands.push_back(
      p.memory.operand(p.memory.add(from_doubles(dtype, {std::ssize(p.values)}, p.values)), dtype));
  if (s.named)
    p.operands.push_back(
        p.memory.operand(p.memory.add(from_int64s(DType::I32, {std::ssize(p.names)}, p.names)), DType::I32));
  const auto kept = static_cast<std::size_t>(s.rows * s.parts * s.keep);
  p.operands.push_back(p.memory.operand(p.memory.add(byte_size(dtype, kept)), dtype, true));
  p.operands.push_back(p.memory.operand(p.memory.add(byte_size(index_type, kept)), index_type, true));
  return p;
}

struct Best {
  std::vector<double> values;
  std::vector<std::int64_t> indices;
  friend bool operator==(const Best&, const Best&) = default;
};

Best reference(const Problem& p) {
  const TopKSpec& s = p.spec;
  Best out;
  for (std::int64_t r = 0; r < s.rows; ++r)
    for (std::int64_t part = 0; part < s.parts; ++part) {
      // The first axis % parts stretches are one element longer.
      const std::int64_t each = s.axis / s.parts, more = s.axis % s.parts;
      const std::int64_t begin = part * each + std::min(part, more), length = each + (part < more ? 1 : 0);
      std::vector<std::size_t> order(static_cast<std::size_t>(length));
      std::iota(order.begin(), order.end(), static_cast<std::size_t>(r * s.axis + begin));
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (p.values[a] != p.values[b])
          return s.largest ? p.values[a] > p.values[b] : p.values[a] < p.values[b];
        return p.names[a] < p.names[b];
      });
      for (std::int64_t k = 0; k < s.keep; ++k) {
        out.values.push_back(p.values[order[static_cast<std::size_t>(k)]]);
        out.indices.push_back(p.names[order[static_cast<std::size_t>(k)]]);
      }
    }
  return out;
}

Tensor read(const Problem& p, std::size_t operand) {
  const Operand& o = p.operands[operand];
  MutableTensor t(o.dtype, {o.bytes / (bit_width(o.dtype) / 8)});
  std::memcpy(t.bytes().data(), p.memory[o.tensor].data(), static_cast<std::size_t>(o.bytes));
  return std::move(t).freeze();
}

Best result(const Problem& p) {
  return {to_doubles(read(p, p.operands.size() - 2)), to_int64s(read(p, p.operands.size() - 1))};
}

void expect_top(const TopKSpec& s, DType dtype, DType index_type, std::mt19937& rng, int distinct = 9,
                std::string_view soc = "Ascend910B3") {
  Problem p = random_problem(s, dtype, index_type, rng, distinct);
  auto task = make_top_k(s, p.operands, chip(soc));
  ASSERT_TRUE(task.ok()) << task.status().to_string();
  const std::string what = to_string(Dims{s.rows, s.axis, s.keep, s.parts}) + " " + std::string(name(dtype));
  ASSERT_EQ(check_modes(prepare_top_k, *task, chip(soc), p.memory), "") << what;
  ASSERT_EQ(result(p), reference(p)) << what;
}

TEST(TopK, RandomShapes) {
  constexpr DType kTypes[] = {DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::I8};
  std::mt19937 rng(1);
  for (int i = 0; i < 200; ++i) {
    TopKSpec s;
    s.largest = rng() % 2 == 0;
    s.named = rng() % 3 == 0;
    s.rows = 1 + static_cast<std::int64_t>(rng() % 50);
    s.axis = 1 + static_cast<std::int64_t>(rng() % 90);
    s.parts =
        1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(std::min<std::int64_t>(3, s.axis)));
    s.keep = 1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(s.axis / s.parts));
    expect_top(s, kTypes[rng() % std::size(kTypes)], rng() % 2 == 0 ? DType::I32 : DType::I64, rng, 9,
               i % 2 == 0 ? "Ascend910B3" : "Ascend310P3");
  }
}

TEST(TopK, LongAxesAreWalkedInChunks) {
  std::mt19937 rng(2);
  expect_top({true, false, 1, 30000, 300, 1}, DType::F32, DType::I64, rng, 20000);
  expect_top({false, false, 2, 9000, 4096, 1}, DType::F16, DType::I64, rng, 100);
  expect_top({true, false, 1, 25000, 1000, 9}, DType::F32, DType::I32, rng, 50);
  expect_top({true, true, 1, 9000, 1000, 1}, DType::F32, DType::I64, rng, 50);
  expect_top({true, false, 3000, 80, 1, 1}, DType::F32, DType::I64, rng, 50);
}

TEST(TopK, NanIsTheLargest) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const bool largest : {true, false}) {
    Memory memory;
    memory.add(from_doubles(DType::F32, {5},
                            std::vector<double>{1, double{nan}, double{inf}, double{-inf}, double{nan}}));
    memory.add(20);
    memory.add(40);
    auto task = make_top_k({largest, false, 1, 5, 5, 1},
                           {memory.operand(0, DType::F32), memory.operand(1, DType::F32, true),
                            memory.operand(2, DType::I64, true)},
                           chip());
    ASSERT_TRUE(task.ok());
    ASSERT_EQ(check_modes(prepare_top_k, *task, chip(), memory), "");
    const auto got = memory.as<std::int64_t>(2);
    const std::vector<std::int64_t> expected =
        largest ? std::vector<std::int64_t>{1, 4, 2, 0, 3} : std::vector<std::int64_t>{3, 0, 2, 1, 4};
    EXPECT_EQ(std::vector<std::int64_t>(got.begin(), got.end()), expected);
  }
}

TEST(TopK, PartsAreForFewLongRows) {
  const soc::Chip& c = chip();
  EXPECT_EQ(top_k_parts(1, 1000, 10, c), 1);
  EXPECT_EQ(top_k_parts(1, 200000, 1000, c), c.vector_blocks());
  EXPECT_EQ(top_k_parts(c.vector_blocks(), 200000, 10, c), 1);
  EXPECT_EQ(top_k_parts(1, 8400, 4096, c), 1);
}

TEST(TopK, RefusesWhatDoesNotFit) {
  std::mt19937 rng(4);
  const TopKSpec s{true, true, 3, 50, 7, 2};
  const Problem p = random_problem(s, DType::F32, DType::I64, rng);
  auto says = [&](auto change, const char* what) {
    TopKSpec spec = s;
    std::vector<Operand> operands = p.operands;
    change(spec, operands);
    const std::string status = make_top_k(spec, operands, chip()).status().to_string();
    EXPECT_NE(status.find(what), std::string::npos) << status;
  };
  says([](auto& x, auto&) { x.axis = 51; }, "smaller than its dims");
  says([](auto& x, auto&) { x.rows = INT64_MAX / 2; }, "smaller than its dims");
  says([](auto& x, auto&) { x.keep = 26; }, "extent out of range");
  says([](auto& x, auto&) { x.keep = kMaxTopK + 1; }, "extent out of range");
  says([](auto& x, auto&) { x.parts = 0; }, "extent out of range");
  says([](auto& x, auto&) { x.named = false; }, "operand count");
  says([](auto&, auto& o) { o[3].bytes -= 8; }, "smaller than its dims");
  says([](auto&, auto& o) { o[2].output = false; }, "writes to an input");
  says([](auto&, auto& o) { o[1].dtype = DType::I64; }, "names are not i32");
  says([](auto&, auto& o) { o[3].dtype = DType::F32; }, "neither i32 nor i64");
  says([](auto&, auto& o) { o[0].dtype = o[2].dtype = DType::F64; }, "no order of");
}

TEST(TopK, CorruptParametersNeverCrash) {
  std::mt19937 rng(5);
  const Problem p = random_problem({true, true, 30, 50, 7, 2}, DType::F16, DType::I64, rng);
  auto task = make_top_k(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_top_k, *task, chip(), p.memory, 2000, 6), 500);
}

}  // namespace
}  // namespace atc::kernels
