#include "kernels/interpolate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness.h"

namespace atc::kernels {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using aicore::Values;

struct Problem {
  InterpolateSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  DType in, out;
};

/// `spread`: how far the taps of an output lie apart; 0 anywhere.
Problem random_problem(InterpolateSpec s, DType in, DType out, std::int64_t spread, std::mt19937& rng) {
  Problem p{std::move(s), {}, {}, in, out};
  InterpolateSpec& spec = p.spec;
  for (std::int64_t j = 0; j < spec.count; ++j) {
    const std::int64_t center = j * spec.axis / spec.count;
    for (std::int64_t t = 0; t < spec.taps; ++t) {
      const std::int64_t any = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(spec.axis));
      const std::int64_t near = center + t - spec.taps / 2;
      spec.index.push_back(
          static_cast<std::int32_t>(spread == 0 ? any : std::clamp<std::int64_t>(near, 0, spec.axis - 1)));
    }
  }
  const Dims table = {spec.count, spec.taps};
  const int x = p.memory.add(random_tensor(in, {spec.outer, spec.axis, spec.inner}, rng));
  const std::vector<std::int64_t> indices(spec.index.begin(), spec.index.end());
  const int index = p.memory.add(from_int64s(DType::I32, table, indices));
  const int weight = p.memory.add(random_tensor(DType::F32, table, rng, 1.0));
  for (float& w : p.memory.as<float>(weight))
    if (rng() % 8 == 0) w = 0;
  const int y =
      p.memory.add(static_cast<std::size_t>(spec.outer * spec.count * spec.inner * bit_width(out) / 8));
  p.operands = {p.memory.operand(x, in), p.memory.operand(index, DType::I32),
                p.memory.operand(weight, DType::F32), p.memory.operand(y, out, true)};
  return p;
}

std::string name_of(const InterpolateSpec& s) {
  return to_string(Dims{s.outer, s.axis, s.count, s.inner, s.taps});
}

void expect_result(const Problem& p) {
  const InterpolateSpec& s = p.spec;
  const auto x = floats(p.memory, 0, p.in), w = floats(p.memory, 2, DType::F32),
             y = floats(p.memory, 3, p.out);
  const double relative = p.out == DType::F32 ? 1e-5 : p.out == DType::F16 ? 1e-3 : 8e-3;
  for (std::int64_t o = 0; o < s.outer; ++o)
    for (std::int64_t j = 0; j < s.count; ++j)
      for (std::int64_t i = 0; i < s.inner; ++i) {
        double sum = 0;
        for (std::int64_t t = 0; t < s.taps; ++t) {
          const std::size_t at = static_cast<std::size_t>(j * s.taps + t);
          if (w[at] == 0.0f) continue;
          sum += static_cast<double>(w[at]) *
                 static_cast<double>(x[static_cast<std::size_t>((o * s.axis + s.index[at]) * s.inner + i)]);
        }
        ASSERT_NEAR(static_cast<double>(y[static_cast<std::size_t>((o * s.count + j) * s.inner + i)]), sum,
                    relative * (2 + std::fabs(sum)))
            << name_of(s) << " at " << o << ", " << j << ", " << i;
      }
}

void expect_interpolates(InterpolateSpec s, DType in, DType out, std::int64_t spread, std::mt19937& rng,
                         std::string_view soc = "Ascend910B3") {
  Problem p = random_problem(std::move(s), in, out, spread, rng);
  auto task = make_interpolate(p.spec, p.operands, chip(soc));
  ASSERT_TRUE(task.ok()) << task.status().to_string();
  ASSERT_EQ(check_modes(prepare_interpolate, *task, chip(soc), p.memory), "") << name_of(p.spec);
  expect_result(p);
}

constexpr DType kStorage[] = {DType::F32, DType::F16, DType::BF16};

TEST(Interpolate, RandomShapes) {
  std::mt19937 rng(1);
  for (int i = 0; i < 200; ++i) {
    InterpolateSpec s;
    auto pick = [&](std::int64_t most) {
      return 1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(most));
    };
    s.outer = pick(9);
    s.axis = pick(50);
    s.count = pick(90);
    s.inner = i % 2 == 0 ? pick(3) : pick(80);
    s.taps = pick(6);
    ASSERT_NO_FATAL_FAILURE(expect_interpolates(s, kStorage[rng() % 3], kStorage[rng() % 3], i % 3, rng,
                                                i % 2 == 0 ? "Ascend910B3" : "Ascend310P3"));
  }
}

TEST(Interpolate, LargeShapes) {
  std::mt19937 rng(2);
  const auto f32 = DType::F32, f16 = DType::F16;
  expect_interpolates({4, 80, 160, 160 * 16, 2, {}}, f32, f32, 1, rng);  // H of a feature map
  expect_interpolates({4 * 40, 40, 80, 16, 2, {}}, f16, f16, 1, rng);    // W of one
  expect_interpolates({300, 224, 448, 1, 4, {}}, f32, f16, 1, rng);      // W of a planar image
  expect_interpolates({1, 700, 70, 3000, 40, {}}, f32, f32, 1, rng);     // antialiased reduction
  expect_interpolates({1, 2000, 5, 1000, 2, {}}, f32, f32, 0, rng);      // rows far apart: cut along inner
  expect_interpolates({1, 3, 100000, 1, 2, {}}, f32, f32, 1, rng);
}

TEST(Interpolate, OneTapOfWeightOneCopies) {
  std::mt19937 rng(3);
  Problem p = random_problem({3, 7, 21, 5, 1, {}}, DType::F32, DType::F32, 1, rng);
  for (float& w : p.memory.as<float>(2)) w = 1;
  p.memory.as<float>(0)[0] = -0.0f;
  p.memory.as<float>(0)[1] = std::numeric_limits<float>::infinity();
  auto task = make_interpolate(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_TRUE(run_task(prepare_interpolate, *task, chip(), p.memory, Values::Fast).status.ok());
  for (std::int64_t o = 0; o < 3; ++o)
    for (std::int64_t j = 0; j < 21; ++j)
      EXPECT_EQ(
          std::memcmp(p.memory[3].data() + (o * 21 + j) * 20,
                      p.memory[0].data() + (o * 7 + p.spec.index[static_cast<std::size_t>(j)]) * 20, 20),
          0);
}

TEST(Interpolate, UnusedTapsMayHoldAnything) {
  std::mt19937 rng(4);
  Problem p = random_problem({1, 4, 4, 16, 2, {}}, DType::F32, DType::F32, 1, rng);
  for (float& x : p.memory.as<float>(0)) x = std::numeric_limits<float>::infinity();
  for (float& w : p.memory.as<float>(2)) w = 0;
  auto task = make_interpolate(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_TRUE(run_task(prepare_interpolate, *task, chip(), p.memory, Values::Fast).status.ok());
  for (float y : p.memory.as<float>(3)) EXPECT_EQ(y, 0.0f);
}

TEST(Interpolate, RefusesWhatDoesNotFit) {
  std::mt19937 rng(5);
  const Problem p = random_problem({3, 10, 20, 6, 2, {}}, DType::F32, DType::F32, 1, rng);
  auto status = [&](auto change) {
    InterpolateSpec spec = p.spec;
    std::vector<Operand> operands = p.operands;
    change(spec, operands);
    return make_interpolate(spec, operands, chip()).status().to_string();
  };
  EXPECT_EQ(status([](auto&, auto&) {}), "");
  EXPECT_NE(status([](auto& s, auto&) { s.index[3] = 10; }).find("index 10 of an axis of 10"),
            std::string::npos);
  EXPECT_NE(status([](auto& s, auto&) { s.index.pop_back(); }).find("fewer indices"), std::string::npos);
  EXPECT_NE(status([](auto& s, auto&) { s.axis = 11; }).find("input is smaller"), std::string::npos);
  EXPECT_NE(status([](auto& s, auto&) { s.outer = INT64_MAX / 4; }).find("smaller"), std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[3].bytes -= 4; }).find("output is smaller"), std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[2].bytes -= 4; }).find("tables are smaller"), std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[0].dtype = DType::I32; }).find("not f32, f16 or bf16"),
            std::string::npos);
  EXPECT_NE(status([](auto&, auto& o) { o[3].output = false; }).find("writes to an input"),
            std::string::npos);
  Problem wide = random_problem({1, 200000, 1, 1, 2, {}}, DType::F32, DType::F32, 1, rng);
  wide.spec.index = {0, 199999};
  EXPECT_NE(make_interpolate(wide.spec, wide.operands, chip())
                .status()
                .to_string()
                .find("larger than the Unified Buffer"),
            std::string::npos);
}

TEST(Interpolate, CorruptParametersAndTablesNeverCrash) {
  std::mt19937 rng(6);
  Problem p = random_problem({3, 10, 20, 40, 2, {}}, DType::F32, DType::F16, 1, rng);
  auto task = make_interpolate(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_interpolate, *task, chip(), p.memory, 2000, 7), 500);
  p.memory.as<std::int32_t>(1)[5] = 1 << 30;  // not what the tiles were cut for
  EXPECT_THROW(run_task(prepare_interpolate, *task, chip(), p.memory, Values::Fast), InternalError);
}

TEST(Interpolate, TileBeyondUbIsAnInternalError) {
  std::mt19937 rng(8);
  Problem p = random_problem({64, 80, 160, 160, 2, {}}, DType::F32, DType::F32, 1, rng);
  auto task = make_interpolate(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  ASSERT_EQ(task->params[5], 1);
  task->params[5] = 64;  // all outer positions in one tile
  task->block_tiles = {0, 1};
  EXPECT_THROW(run_task(prepare_interpolate, *task, chip(), p.memory, Values::Literal), InternalError);
}

TEST(Interpolate, BlocksDecideWhatIsWritten) {
  std::mt19937 rng(9);
  Problem p = random_problem({64, 80, 160, 16, 2, {}}, DType::F32, DType::F32, 1, rng);
  auto task = make_interpolate(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->blocks(), chip().vector_blocks());
  Memory whole = p.memory;
  ASSERT_TRUE(run_task(prepare_interpolate, *task, chip(), whole, Values::Fast).status.ok());
  task->block_tiles.back() -= 1;
  ASSERT_TRUE(run_task(prepare_interpolate, *task, chip(), p.memory, Values::Fast).status.ok());
  EXPECT_FALSE(p.memory == whole);
}

}  // namespace
}  // namespace atc::kernels
