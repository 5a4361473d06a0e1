#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness.h"

namespace atc::kernels::testing {
namespace {

using Kind = AttentionMask::Kind;

struct Shape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, rows = 1, d = 16, dv = 16;
  std::vector<std::int64_t> segments = {16};
};

struct Problem {
  AttentionSpec spec;
  Memory memory;
  std::vector<Operand> operands;
  Tensor q, mask, bias;
  std::vector<Tensor> k, v;
  DType dtype = DType::F32;
  int out = -1;
};

// Heads side by side in a row, as a projection writes them: [batch, positions, heads, d].
HeadAddress interleaved(std::int64_t heads, std::int64_t positions, std::int64_t d) {
  return {0, positions * heads * d, d, heads * d};
}

Problem make_problem(const Shape& shape, DType dtype, Kind mask, DType mask_dtype, std::uint32_t seed) {
  std::mt19937 rng(seed);
  Problem p;
  p.dtype = dtype;
  AttentionSpec& s = p.spec;
  s.batch = shape.batch;
  s.heads = shape.heads;
  s.kv_heads = shape.kv_heads;
  s.rows = shape.rows;
  s.d = shape.d;
  s.dv = shape.dv;
  s.scale = 1 / std::sqrt(static_cast<double>(s.d));
  s.q = interleaved(s.heads, s.rows, s.d);
  s.out = interleaved(s.heads, s.rows, s.dv);
  p.q = random_tensor(dtype, {s.batch, s.rows, s.heads, s.d}, rng);
  p.operands.push_back(p.memory.operand(p.memory.add(p.q), dtype));
  p.out = p.memory.add(byte_size(dtype, static_cast<std::size_t>(s.batch * s.rows * s.heads * s.dv)));
  p.operands.push_back(p.memory.operand(p.out, dtype, true));
  std::int64_t positions = 0;
  for (std::int64_t n : shape.segments) positions += n;
  s.mask.kind = mask;
  if (mask != Kind::None) {
    if (mask == Kind::Add) {
      p.mask = random_tensor(mask_dtype, {s.batch, 1, s.rows, positions}, rng, 3.0);
    } else {
      MutableTensor bits(DType::Bool, {s.batch, 1, s.rows, positions});
      for (std::byte& b : bits.bytes()) b = std::byte{static_cast<unsigned char>(rng() % 4 == 0 ? 1 : 0)};
      // A row never loses all of its positions.
      for (std::int64_t r = 0; r < s.batch * s.rows; ++r)
        bits.bytes()[static_cast<std::size_t>(r * positions)] = std::byte{mask == Kind::Keep};
      p.mask = std::move(bits).freeze();
      s.mask.fill = -std::numeric_limits<double>::infinity();
    }
    s.mask.batch_stride = s.rows * positions;
    s.mask.row_stride = positions;
    s.mask.col_stride = 1;
    p.operands.push_back(p.memory.operand(p.memory.add(p.mask), p.mask.dtype));
  }
  for (std::int64_t n : shape.segments) {
    p.k.push_back(random_tensor(dtype, {s.batch, n, s.kv_heads, s.d}, rng));
    p.v.push_back(random_tensor(dtype, {s.batch, n, s.kv_heads, s.dv}, rng));
    s.segments.push_back({n, interleaved(s.kv_heads, n, s.d), interleaved(s.kv_heads, n, s.dv)});
    p.operands.push_back(p.memory.operand(p.memory.add(p.k.back()), dtype));
    p.operands.push_back(p.memory.operand(p.memory.add(p.v.back()), dtype));
  }
  return p;
}

// One number a position of each batch, [batch, positions].
void add_bias(Problem& p, bool behind_mask, DType dtype, std::uint32_t seed) {
  std::mt19937 rng(seed);
  AttentionSpec& s = p.spec;
  p.bias = random_tensor(dtype, {s.batch, s.positions()}, rng, 3.0);
  s.bias.kind = Kind::Add;
  s.bias.batch_stride = s.positions();
  s.bias.col_stride = 1;
  s.bias_behind_mask = behind_mask;
  const std::ptrdiff_t at = s.mask.kind == Kind::None ? 2 : 3;
  p.operands.insert(p.operands.begin() + at, p.memory.operand(p.memory.add(p.bias), dtype));
}

// The textbook formula in double, scores and all.
std::vector<double> expected(const Problem& p) {
  const AttentionSpec& s = p.spec;
  const std::vector<double> q = to_doubles(p.q);
  const std::vector<double> mask = s.mask.kind == Kind::None ? std::vector<double>{} : to_doubles(p.mask);
  std::vector<std::vector<double>> k, v;
  for (std::size_t i = 0; i < p.k.size(); ++i) {
    k.push_back(to_doubles(p.k[i]));
    v.push_back(to_doubles(p.v[i]));
  }
  const std::int64_t positions = s.positions();
  std::vector<double> out(static_cast<std::size_t>(s.batch * s.rows * s.heads * s.dv));
  auto at = [](const std::vector<double>& x, std::int64_t i) { return x[static_cast<std::size_t>(i)]; };
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t h = 0; h < s.heads; ++h)
      for (std::int64_t r = 0; r < s.rows; ++r) {
        const std::int64_t g = h / (s.heads / s.kv_heads);
        std::vector<double> score;
        std::vector<std::pair<std::size_t, std::int64_t>> where;
        for (std::size_t i = 0; i < s.segments.size(); ++i)
          for (std::int64_t j = 0; j < s.segments[i].length; ++j) {
            double x = 0;
            for (std::int64_t c = 0; c < s.d; ++c)
              x += at(q, ((b * s.rows + r) * s.heads + h) * s.d + c) *
                   at(k[i], ((b * s.segments[i].length + j) * s.kv_heads + g) * s.d + c);
            x *= s.scale;
            if (s.softcap > 0) x = s.softcap * std::tanh(x / s.softcap);
            const std::int64_t position = static_cast<std::int64_t>(score.size());
            const double bias =
                s.bias.kind == Kind::None ? 0 : at(to_doubles(p.bias), b * positions + position);
            if (!s.bias_behind_mask) x += bias;
            if (s.mask.kind != Kind::None) {
              const double m = at(mask, (b * s.rows + r) * positions + position);
              if (s.mask.kind == Kind::Add) x += m;
              if (s.mask.kind == Kind::Keep && m == 0) x = s.mask.fill;
              if (s.mask.kind == Kind::Drop && m != 0) x = s.mask.fill;
            }
            if (s.bias_behind_mask) x += bias;
            if (s.causal && position > r + s.causal_offset) x = -std::numeric_limits<double>::infinity();
            score.push_back(x);
            where.emplace_back(i, j);
          }
        const double max = *std::max_element(score.begin(), score.end());
        double sum = 0;
        for (double& x : score) sum += x = std::exp(x - max);
        for (std::int64_t c = 0; c < s.dv; ++c) {
          double y = 0;
          for (std::size_t j = 0; j < score.size(); ++j) {
            const auto [i, position] = where[j];
            y += score[j] / sum *
                 at(v[i], ((b * s.segments[i].length + position) * s.kv_heads + g) * s.dv + c);
          }
          out[static_cast<std::size_t>(((b * s.rows + r) * s.heads + h) * s.dv + c)] = y;
        }
      }
  return out;
}

void expect_right(const Problem& p, const Memory& memory) {
  const auto got = floats(memory, p.out, p.dtype);
  const auto want = expected(p);
  const double tolerance = p.dtype == DType::F32 ? 2e-5 : p.dtype == DType::F16 ? 4e-3 : 3e-2;
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << "element " << i;
}

// Fast and Literal both give the formula, and a dry run takes their cycles.
void check(Problem& p, const soc::Chip& on) {
  const auto task = make_attention_task(p.spec, p.operands, on);
  ASSERT_TRUE(task.ok()) << task.status().to_string();
  Memory literal = p.memory, timed = p.memory, none = p.memory;
  const auto fast = run_task(*task, on, p.memory, aicore::Values::Fast);
  ASSERT_TRUE(fast.status.ok()) << fast.status.to_string();
  expect_right(p, p.memory);
  const auto exact = run_task(*task, on, literal, aicore::Values::Literal, true);
  expect_right(p, literal);
  EXPECT_EQ(run_task(*task, on, timed, aicore::Values::Fast, true).cycles(), exact.cycles());
  EXPECT_EQ(run_task(*task, on, none, aicore::Values::None, true).cycles(), exact.cycles());
  // Only the result is written.
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(p.memory.size()); ++i)
    if (i != p.out) {
      EXPECT_EQ(p.memory[static_cast<int>(i)], none[static_cast<int>(i)]);
    }
}

TEST(Attention, ShapesTypesAndMasks) {
  std::uint32_t seed = 1;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Shape& shape : {Shape{}, Shape{2, 4, 4, 33, 40, 24, {50}}, Shape{1, 4, 2, 20, 64, 64, {100}},
                               Shape{1, 8, 2, 1, 32, 32, {31, 1}}, Shape{2, 2, 1, 5, 7, 9, {3, 20, 130}},
                               Shape{1, 1, 1, 197, 64, 64, {197}}})
      for (DType dtype : {DType::F32, DType::F16, DType::BF16})
        for (Kind mask : {Kind::None, Kind::Add, Kind::Keep, Kind::Drop}) {
          SCOPED_TRACE(std::string(soc) + " rows " + std::to_string(shape.rows) + " " +
                       std::string(name(dtype)) + " mask " + std::to_string(static_cast<int>(mask)));
          Problem p = make_problem(shape, dtype, mask, seed % 2 == 0 ? DType::F32 : DType::F16, seed);
          ++seed;
          check(p, chip(soc));
        }
}

TEST(Attention, ABiasBesideAMask) {
  std::uint32_t seed = 50;
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const Shape& shape : {Shape{2, 4, 2, 33, 40, 24, {50}}, Shape{2, 8, 2, 1, 32, 32, {31, 1}},
                               Shape{1, 2, 2, 5, 7, 9, {3, 20}}})
      for (Kind mask : {Kind::None, Kind::Add, Kind::Keep, Kind::Drop})
        for (bool behind : {false, true}) {
          SCOPED_TRACE(std::string(soc) + " rows " + std::to_string(shape.rows) + " mask " +
                       std::to_string(static_cast<int>(mask)) + (behind ? " behind" : ""));
          Problem p = make_problem(shape, seed % 3 == 0 ? DType::F16 : DType::F32, mask, DType::F32, seed);
          p.spec.mask.fill = -2;  // so that what is added to it shows
          add_bias(p, behind, seed % 2 == 0 ? DType::F32 : DType::F16, seed);
          ++seed;
          check(p, chip(soc));
        }
}

TEST(Attention, RefusesABiasThatIsNotAdded) {
  Problem p = make_problem({}, DType::F32, Kind::Keep, DType::F32, 3);
  add_bias(p, false, DType::F32, 3);
  auto task = make_attention_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  Problem keeps = make_problem({}, DType::F32, Kind::Keep, DType::F32, 3);
  add_bias(keeps, false, DType::F32, 3);
  keeps.spec.bias.kind = Kind::Keep;
  EXPECT_FALSE(make_attention_task(keeps.spec, keeps.operands, chip()).ok());
  Problem outside = make_problem({}, DType::F32, Kind::Keep, DType::F32, 3);
  add_bias(outside, false, DType::F32, 3);
  outside.spec.bias.offset = 1;
  EXPECT_FALSE(make_attention_task(outside.spec, outside.operands, chip()).ok());
}

TEST(Attention, CausalRowsSeeTheirPrefix) {
  for (const auto& [rows, segments, offset] :
       {std::tuple{40, std::vector<std::int64_t>{40}, 0}, std::tuple{300, std::vector<std::int64_t>{300}, 0},
        std::tuple{20, std::vector<std::int64_t>{100, 20}, 100},
        std::tuple{1, std::vector<std::int64_t>{9, 1}, 4}}) {
    Problem p = make_problem({1, 4, 2, rows, 32, 32, segments}, DType::F32, Kind::None, DType::F32, 9);
    p.spec.causal = true;
    p.spec.causal_offset = offset;
    check(p, chip());
  }
}

TEST(Attention, CausalSkipsWhatNobodySees) {
  Problem p = make_problem({1, 1, 1, 1024, 64, 64, {1024}}, DType::F16, Kind::None, DType::F32, 10);
  const auto all = make_attention_task(p.spec, p.operands, chip());
  p.spec.causal = true;
  const auto causal = make_attention_task(p.spec, p.operands, chip());
  ASSERT_TRUE(all.ok() && causal.ok());
  auto total = [&](const Task& task) {
    std::int64_t sum = 0;
    for (auto c : run_task(task, chip(), p.memory, aicore::Values::None, true).cycles()) sum += c;
    return sum;
  };
  EXPECT_LT(total(*causal), total(*all) * 8 / 10);
}

TEST(Attention, SoftCap) {
  Problem p = make_problem({1, 2, 2, 18, 32, 32, {70}}, DType::F32, Kind::Add, DType::F32, 11);
  p.spec.softcap = 1.5;
  check(p, chip());
}

TEST(Attention, TransposedKeys) {
  Problem p = make_problem({1, 2, 1, 12, 24, 16, {37}}, DType::F32, Kind::None, DType::F32, 12);
  std::vector<double> k = to_doubles(p.k[0]), t(k.size());
  for (std::size_t j = 0; j < 37; ++j)
    for (std::size_t c = 0; c < 24; ++c) t[c * 37 + j] = k[j * 24 + c];
  p.operands[2] = p.memory.operand(p.memory.add(from_doubles(DType::F32, {24, 37}, t)), DType::F32);
  p.spec.segments[0].k = {0, 0, 0, 37};
  p.spec.k_transposed = true;
  check(p, chip());
}

// A first tile without a single position must not spoil what later tiles bring.
TEST(Attention, LeadingTilesMayBeMaskedAltogether) {
  Problem p = make_problem({1, 1, 1, 16, 16, 16, {600}}, DType::F32, Kind::Add, DType::F32, 13);
  std::vector<double> mask = to_doubles(p.mask);
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (i % 600 < 590) mask[i] = -std::numeric_limits<double>::infinity();
  p.mask = from_doubles(DType::F32, p.mask.shape, mask);
  p.operands[2] = p.memory.operand(p.memory.add(p.mask), DType::F32);
  check(p, chip());
}

TEST(Attention, RowsThatSeeNothingAreZeroWhenAsked) {
  Problem p = make_problem({1, 2, 2, 4, 16, 16, {20}}, DType::F32, Kind::Keep, DType::F32, 18);
  MutableTensor none(DType::Bool, p.mask.shape);
  std::memset(none.bytes().data(), 0, none.bytes().size());
  p.operands[2] = p.memory.operand(p.memory.add(std::move(none).freeze()), DType::Bool);
  for (bool zero : {true, false}) {
    p.spec.hidden_rows_are_zero = zero;
    const auto task = make_attention_task(p.spec, p.operands, chip());
    ASSERT_TRUE(task.ok());
    ASSERT_TRUE(run_task(*task, chip(), p.memory, aicore::Values::Fast).status.ok());
    for (float y : floats(p.memory, p.out, DType::F32)) EXPECT_TRUE(zero ? y == 0 : std::isnan(y)) << y;
  }
}

TEST(Attention, ScoresNeverReachGlobalMemory) {
  Problem p = make_problem({1, 2, 2, 256, 64, 64, {256}}, DType::F16, Kind::None, DType::F32, 14);
  const auto task = make_attention_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  std::int64_t written = 0;
  for (const auto& s : run_task(*task, chip(), p.memory, aicore::Values::None, true).blocks)
    written += s.gm_written;
  EXPECT_EQ(written, 2 * 256 * 64 * 2);
}

TEST(Attention, HeadsThatNoTileHoldsAreRefused) {
  Problem p = make_problem({}, DType::F16, Kind::None, DType::F32, 15);
  EXPECT_TRUE(attention_fits(p.spec, DType::F16, chip()));
  p.spec.d = 1 << 20;
  EXPECT_FALSE(attention_fits(p.spec, DType::F16, chip()));
}

TEST(Attention, OverflowingTilesAreInternalErrors) {
  Problem p = make_problem({1, 1, 1, 64, 64, 64, {64}}, DType::F16, Kind::None, DType::F32, 16);
  const auto task = make_attention_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  for (std::int64_t soc::Chip::*memory :
       {&soc::Chip::l0a, &soc::Chip::l0b, &soc::Chip::l0c, &soc::Chip::l1, &soc::Chip::ub}) {
    soc::Chip small = chip();
    small.*memory = 512;
    EXPECT_THROW((void)run_task(*task, small, p.memory, aicore::Values::Fast), InternalError);
  }
}

TEST(Attention, FuzzedParametersNeverEscape) {
  Problem p = make_problem({2, 4, 2, 20, 24, 24, {17, 30}}, DType::F16, Kind::Add, DType::F32, 17);
  const auto task = make_attention_task(p.spec, p.operands, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_GT(fuzz_params(prepare_attention, *task, chip(), p.memory, 400, 3), 100);
}

}  // namespace
}  // namespace atc::kernels::testing
