#include "kernels/scan.h"

#include <gtest/gtest.h>

#include "harness.h"

namespace atc::kernels {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using aicore::Values;

struct Problem {
  ScanSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  std::vector<double> values;
};

// Whole numbers, so that sums do not depend on their order; products of ones and minus ones.
Problem random_problem(const ScanSpec& s, DType dtype, std::mt19937& rng) {
  Problem p;
  p.spec = s;
  p.values.resize(static_cast<std::size_t>(s.outer * s.axis * s.inner));
  for (double& v : p.values) v = s.product ? (rng() % 2 == 0 ? 1 : -1) : static_cast<int>(rng() % 5) - 2;
  const Tensor t = from_doubles(dtype, {std::ssize(p.values)}, p.values);
  const int in = p.memory.add(t), out = p.memory.add(t.byte_size());
  p.operands = {p.memory.operand(in, dtype), p.memory.operand(out, dtype, true)};
  return p;
}

std::vector<double> reference(const Problem& p) {
  const ScanSpec& s = p.spec;
  std::vector<double> out(p.values.size());
  for (std::int64_t o = 0; o < s.outer; ++o)
    for (std::int64_t i = 0; i < s.inner; ++i) {
      double total = s.product ? 1 : 0;
      for (std::int64_t k = 0; k < s.axis; ++k) {
        const std::int64_t at = (o * s.axis + (s.reverse ? s.axis - 1 - k : k)) * s.inner + i;
        const double before = total, x = p.values[static_cast<std::size_t>(at)];
        total = s.product ? total * x : total + x;
        out[static_cast<std::size_t>(at)] = s.exclusive ? before : total;
      }
    }
  return out;
}

std::vector<double> result(const Problem& p) {
  const auto& bytes = p.memory[1];
  MutableTensor t(p.operands[1].dtype, {std::ssize(p.values)});
  std::memcpy(t.bytes().data(), bytes.data(), bytes.size());
  return to_doubles(std::move(t).freeze());
}

void expect_scans(const ScanSpec& s, DType dtype, std::mt19937& rng, std::string_view soc = "Ascend910B3") {
  Problem p = random_problem(s, dtype, rng);
  auto task = make_scan(s, p.operands, chip(soc));
  ASSERT_TRUE(task.ok()) << task.status().to_string();
  const std::string what = to_string(Dims{s.outer, s.axis, s.inner}) + " " + std::string(name(dtype)) +
                           (s.reverse ? " reverse" : "") + (s.exclusive ? " exclusive" : "");
  ASSERT_EQ(check_modes(prepare_scan, *task, chip(soc), p.memory), "") << what;
  ASSERT_EQ(result(p), reference(p)) << what;
}

TEST(Scan, RandomShapes) {
  constexpr DType kTypes[] = {DType::F32, DType::F16, DType::I32, DType::I64, DType::I16, DType::I8};
  std::mt19937 rng(1);
  for (int i = 0; i < 200; ++i) {
    ScanSpec s;
    s.product = rng() % 4 == 0;
    s.exclusive = rng() % 2 == 0;
    s.reverse = rng() % 2 == 0;
    s.outer = 1 + static_cast<std::int64_t>(rng() % 40);
    s.axis = 1 + static_cast<std::int64_t>(rng() % 50);
    s.inner = i % 2 == 0 ? 1 : 1 + static_cast<std::int64_t>(rng() % 40);
    expect_scans(s, kTypes[rng() % std::size(kTypes)], rng, i % 3 == 0 ? "Ascend310P3" : "Ascend910B3");
  }
}

TEST(Scan, LongAxesAreWalkedInChunks) {
  std::mt19937 rng(2);
  expect_scans({false, false, false, 3, 20000, 1}, DType::I32, rng);
  expect_scans({false, true, true, 2, 5000, 300}, DType::F32, rng);
  expect_scans({false, false, true, 1, 3000, 5}, DType::I64, rng);
}

TEST(Scan, LanesAreSharedOut) {
  std::mt19937 rng(3);
  for (const ScanSpec& s :
       {ScanSpec{false, false, false, 1920, 64, 1}, ScanSpec{false, false, false, 2, 64, 4000}}) {
    Problem p = random_problem(s, DType::F32, rng);
    auto task = make_scan(s, p.operands, chip());
    ASSERT_TRUE(task.ok());
    EXPECT_EQ(task->blocks(), chip().vector_blocks());
    task->block_tiles.back() -= 1;
    ASSERT_TRUE(run_task(prepare_scan, *task, chip(), p.memory, Values::Fast).status.ok());
    EXPECT_NE(result(p), reference(p));
  }
}

TEST(Scan, SixtyFourBitSumsAreExact) {
  const std::vector<std::int64_t> values = {(std::int64_t{1} << 53) + 1, 1, std::int64_t{1} << 33, -3};
  Memory memory;
  memory.add(from_int64s(DType::I64, {4}, values));
  memory.add(32);
  auto task = make_scan({false, false, false, 1, 4, 1},
                        {memory.operand(0, DType::I64), memory.operand(1, DType::I64, true)}, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_EQ(check_modes(prepare_scan, *task, chip(), memory), "");
  std::int64_t total = 0;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(memory.as<std::int64_t>(1)[i], total += values[i]);
}

TEST(Scan, RefusesWhatDoesNotFit) {
  std::mt19937 rng(4);
  const ScanSpec s{false, false, false, 3, 5, 7};
  const Problem p = random_problem(s, DType::F32, rng);
  auto says = [&](auto change, const char* what) {
    ScanSpec spec = s;
    std::vector<Operand> operands = p.operands;
    change(spec, operands);
    const std::string status = make_scan(spec, operands, chip()).status().to_string();
    EXPECT_NE(status.find(what), std::string::npos) << status;
  };
  says([](auto& x, auto&) { x.axis = 6; }, "smaller than its dims");
  says([](auto& x, auto&) { x.inner = INT64_MAX / 2; }, "smaller than its dims");
  says([](auto& x, auto&) { x.outer = -1; }, "extent out of range");
  says([](auto&, auto& o) { o[1].bytes -= 4; }, "smaller than its dims");
  says([](auto&, auto& o) { o[1].output = false; }, "writes to an input");
  says([](auto&, auto& o) { o[1].dtype = DType::F16; }, "different types");
  says([](auto&, auto& o) { o[0].dtype = o[1].dtype = DType::Bool; }, "no sums of bool");
  says([](auto&, auto& o) { o[0].dtype = o[1].dtype = DType::F64; }, "no sums of");
}

TEST(Scan, CorruptParametersNeverCrash) {
  std::mt19937 rng(5);
  for (const ScanSpec& s :
       {ScanSpec{false, true, false, 30, 50, 1}, ScanSpec{true, false, true, 3, 50, 60}}) {
    const Problem p = random_problem(s, DType::F16, rng);
    auto task = make_scan(s, p.operands, chip());
    ASSERT_TRUE(task.ok());
    EXPECT_GT(fuzz_params(prepare_scan, *task, chip(), p.memory, 2000, 6), 300);
  }
}

}  // namespace
}  // namespace atc::kernels
