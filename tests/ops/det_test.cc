#include <cmath>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

/// Expansion along the first row.
double by_minors(const std::vector<double>& a, std::size_t n) {
  if (n == 0) return 1;
  double sum = 0;
  for (std::size_t column = 0; column < n; ++column) {
    std::vector<double> minor;
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (j != column) minor.push_back(a[i * n + j]);
    sum += (column % 2 == 0 ? 1 : -1) * a[column] * by_minors(minor, n - 1);
  }
  return sum;
}

TEST(Det, OfBatches) {
  for (std::size_t n : {1U, 2U, 3U, 5U}) {
    const std::vector<double> a = noise(2 * n * n, 7);
    const auto side = static_cast<std::int64_t>(n);
    const Tensor x = f32({2, side, side}, a);
    const std::vector<double> rounded = to_doubles(x);
    const std::size_t half = n * n;
    NodeCase c("Det", 11);
    expect_near(c.data(x).run_one(), {2},
                {by_minors({rounded.begin(), rounded.begin() + static_cast<std::ptrdiff_t>(half)}, n),
                 by_minors({rounded.begin() + static_cast<std::ptrdiff_t>(half), rounded.end()}, n)},
                1e-4);
  }
}

TEST(Det, PivotsAndSingularMatrices) {
  expect_near(NodeCase("Det", 11).data(f32({2, 2}, {0, 1, 1, 0})).run_one(), {}, {-1});
  expect_near(NodeCase("Det", 11).data(f32({2, 2}, {1, 2, 2, 4})).run_one(), {}, {0});
  expect_near(NodeCase("Det", 11).data(f32({1, 0, 0}, {})).run_one(), {1}, {1});
}

TEST(Det, InfersAndRefuses) {
  EXPECT_EQ(NodeCase("Det", 11).typed(DType::F64, Dims{3, 4, 2, 2}).inferred(), "f64[3,4]");
  EXPECT_THAT(NodeCase("Det", 11).typed(DType::F32, Dims{2, 3}).inferred(), HasSubstr("square matrices"));
  EXPECT_THAT(NodeCase("Det", 11).typed(DType::F32, Dims{2}).inferred(),
              HasSubstr("rank 1, expected at least 2"));
}

}  // namespace
}  // namespace atc::ops
