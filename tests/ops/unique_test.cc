#include <limits>
#include <set>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Unique, SortedAndByFirstOccurrence) {
  const auto run = [](int sorted) {
    NodeCase c("Unique", 11, 4);
    return c.data(f32({6}, {2, 1, 1, 3, 4, 3})).attr("sorted", sorted).run();
  };
  const auto ascending = run(1);
  expect_near(ascending.at(0), {4}, {1, 2, 3, 4});
  EXPECT_THAT(to_int64s(ascending.at(1)), ElementsAre(1, 0, 3, 4));
  EXPECT_THAT(to_int64s(ascending.at(2)), ElementsAre(1, 0, 0, 2, 3, 2));
  EXPECT_THAT(to_int64s(ascending.at(3)), ElementsAre(2, 1, 2, 1));
  const auto first = run(0);
  expect_near(first.at(0), {4}, {2, 1, 3, 4});
  EXPECT_THAT(to_int64s(first.at(1)), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(to_int64s(first.at(2)), ElementsAre(0, 1, 1, 2, 3, 2));
  EXPECT_THAT(to_int64s(first.at(3)), ElementsAre(1, 2, 2, 1));
}

TEST(Unique, SlicesOfAnAxis) {
  NodeCase rows("Unique", 11, 4);
  const auto r = rows.data(f32({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4})).attr("axis", 0).run();
  expect_near(r.at(0), {2, 3}, {1, 0, 0, 2, 3, 4});
  EXPECT_THAT(to_int64s(r.at(1)), ElementsAre(0, 2));
  EXPECT_THAT(to_int64s(r.at(2)), ElementsAre(0, 0, 1));
  EXPECT_THAT(to_int64s(r.at(3)), ElementsAre(2, 1));
  NodeCase columns("Unique", 11, 3);
  const auto k = columns.data(f32({2, 3}, {2, 1, 2, 0, 5, 0})).attr("axis", -1).run();
  expect_near(k.at(0), {2, 2}, {1, 2, 5, 0});
  EXPECT_THAT(to_int64s(k.at(2)), ElementsAre(1, 0, 1));
}

TEST(Unique, LargeIntegersStayApart) {
  const std::int64_t big = std::numeric_limits<std::int64_t>::max();
  NodeCase c("Unique", 11);
  EXPECT_THAT(to_int64s(c.data(i64({4}, {big, big - 1, big, -big})).run_one()),
              ElementsAre(-big, big - 1, big));
}

TEST(Unique, NaNStandsLastAndOnce) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  NodeCase c("Unique", 11, 4);
  const auto y = c.data(f32({4}, {nan, 1, nan, -1})).run();
  EXPECT_THAT(to_int64s(y.at(1)), ElementsAre(3, 1, 0));
  EXPECT_THAT(to_int64s(y.at(3)), ElementsAre(1, 1, 2));
}

TEST(Unique, OfNoise) {
  std::vector<std::int64_t> values;
  for (double v : noise(500, 3)) values.push_back(static_cast<std::int64_t>(v * 20));
  const std::set<std::int64_t> expected(values.begin(), values.end());
  NodeCase c("Unique", 11, 4);
  const auto y = c.data(i64({500}, values)).run();
  EXPECT_EQ(to_int64s(y.at(0)), std::vector(expected.begin(), expected.end()));
  const auto distinct = to_int64s(y.at(0));
  const auto inverse = to_int64s(y.at(2));
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(distinct[static_cast<std::size_t>(inverse[i])], values[i]);
}

TEST(Unique, InfersAndRefuses) {
  NodeCase c("Unique", 11, 4);
  c.typed(DType::F32, Dims{2, 3});
  EXPECT_EQ(c.inferred(0), "f32[?0]");
  EXPECT_EQ(c.inferred(2), "i64[6]");
  NodeCase axis("Unique", 11, 4);
  axis.typed(DType::U8, Dims{2, 3}).attr("axis", 1);
  EXPECT_EQ(axis.inferred(0), "u8[2,?0]");
  EXPECT_EQ(axis.inferred(2), "i64[3]");
  EXPECT_THAT(NodeCase("Unique", 11).typed(DType::F32, Dims{2}).attr("axis", 1).inferred(),
              HasSubstr("axis is 1, outside"));
  EXPECT_THAT(NodeCase("Unique", 11).typed(DType::F32, Dims{2}).attr("sorted", 2).inferred(),
              HasSubstr("sorted is 2"));
}

}  // namespace
}  // namespace atc::ops
