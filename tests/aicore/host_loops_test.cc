// The host's loops of Fast mode against plain ones.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "aicore/chain.h"
#include "aicore/cube_product.h"
#include "aicore/vector_table.h"

namespace atc::aicore {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> values(std::size_t n, std::mt19937& rng) {
  std::vector<float> v(n);
  for (float& x : v) x = std::uniform_real_distribution<float>(-3, 3)(rng);
  for (const float special : {kNaN, kInf, -kInf, -0.0f, 0.0f}) v[rng() % n] = special;
  return v;
}

TEST(Chain, IsTheOperationsOneByOneBitForBit) {
  std::mt19937 rng(5);
  const VecOp ops[] = {VecOp::Add, VecOp::Sub, VecOp::Mul, VecOp::Max, VecOp::Min, VecOp::Relu};
  const Lanes lanes[] = {Lanes::Full, Lanes::PerCol, Lanes::Scalar};
  for (int round = 0; round < 300; ++round) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(rng() % 9);
    const std::int64_t cols = round % 3 == 0 ? 16 : 1 + static_cast<std::int64_t>(rng() % 150);
    const std::size_t n = static_cast<std::size_t>(rows * cols);
    const std::vector<float> start = values(n, rng);
    std::vector<std::vector<float>> operands;
    std::vector<ChainStep> steps;
    std::vector<float> expected = start;
    for (int s = 0; s < 1 + static_cast<int>(rng() % kMaxChain); ++s) {
      operands.push_back(values(n, rng));
      steps.push_back({ops[rng() % 6], lanes[rng() % 3], operands.back().data()});
    }
    for (std::size_t s = 0; s < steps.size(); ++s) {
      steps[s].operand = operands[s].data();
      const LoopOperand other{operands[s].data(), steps[s].lanes == Lanes::Full ? cols : 0,
                              steps[s].lanes == Lanes::Scalar ? 0 : 1};
      std::vector<float> next(n);
      vector_table().elementwise(steps[s].op, RegType::F32, next.data(), {expected.data(), cols, 1}, other,
                                 {}, 0, rows, cols);
      expected = next;
    }
    for (const ChainLoop loop : {chain_loop_generic(), &run_chain}) {
      std::vector<float> x = start;  // in place
      loop(x.data(), x.data(), steps.data(), static_cast<int>(steps.size()), rows, cols);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(x[i])
                                            : std::memcmp(&x[i], &expected[i], sizeof(float)) == 0)
            << "round " << round << " element " << i << ": " << x[i] << ", expected " << expected[i];
    }
  }
}

TEST(Chain, TakesNoRowWiseOperandAndNoOtherOperation) {
  EXPECT_TRUE(in_chain(VecOp::Add, Lanes::PerCol));
  EXPECT_FALSE(in_chain(VecOp::Add, Lanes::PerRow));
  EXPECT_FALSE(in_chain(VecOp::Div, Lanes::Full));
  EXPECT_FALSE(in_chain(VecOp::ReduceSum, Lanes::Full));
}

// m x k times k x 16.
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, int m, int k) {
  RowMap map;
  for (int r = 0; r < m; ++r) map.base.push_back(std::int64_t{r} * k);
  map.tap_offset = {0};
  map.b_tap = {0};
  map.k1 = k / 16;
  map.k1_stride = 16;
  Core::CubeTile left, right;
  left.data = reinterpret_cast<const std::byte*>(a.data());
  right.data = reinterpret_cast<const std::byte*>(b.data());
  right.panel_stride = std::int64_t{k} * 16;
  std::vector<float> c(static_cast<std::size_t>(m) * 16, 7.0f);
  fast_product(reinterpret_cast<std::byte*>(c.data()), left, map, right, DType::F32, 1, false,
               AccLayout::Panels);
  return c;
}

TEST(FastProduct, PanelsThatAreHalfZeros) {
  std::mt19937 rng(6);
  std::uniform_real_distribution<float> dist(-1, 1);
  constexpr int kRows = 21, kDepth = 304;
  std::vector<float> a(kRows * kDepth), b(kDepth * 16, 0.0f);
  for (float& x : a) x = dist(rng);
  for (int k = 0; k < kDepth; ++k)
    for (int n = 0; n < 8; ++n) b[static_cast<std::size_t>(k * 16 + n)] = dist(rng);
  a[5 * kDepth + 3] = kInf;  // Inf x 0 is NaN, in the columns of zeros too
  a[9 * kDepth + 290] = kNaN;
  const std::vector<float> c = product(a, b, kRows, kDepth);
  for (int r = 0; r < kRows; ++r)
    for (int n = 0; n < 16; ++n) {
      double sum = 0;
      for (int k = 0; k < kDepth; ++k)
        sum += static_cast<double>(a[static_cast<std::size_t>(r * kDepth + k)]) *
               static_cast<double>(b[static_cast<std::size_t>(k * 16 + n)]);
      const float got = c[static_cast<std::size_t>(r * 16 + n)];
      if (std::isnan(sum))
        EXPECT_TRUE(std::isnan(got)) << r << ' ' << n;
      else if (std::isinf(sum))
        EXPECT_EQ(got, static_cast<float>(sum)) << r << ' ' << n;
      else
        EXPECT_NEAR(got, sum, 1e-4) << r << ' ' << n;
    }
}

}  // namespace
}  // namespace atc::aicore
