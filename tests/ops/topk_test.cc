#include <cmath>

#include "ops/node_case.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

TEST(TopK, InfersFromAttributeOrInput) {
  NodeCase v1("TopK", 1, 2);
  v1.typed(DType::F32, Dims{3, 10}).attr("k", 4);
  EXPECT_EQ(v1.inferred(0), "f32[3,4]");
  EXPECT_EQ(v1.inferred(1), "i64[3,4]");
  NodeCase v11("TopK", 11, 2);
  v11.typed(DType::I32, Dims{3, 10}).constant(i64({1}, {2})).attr("axis", 0);
  EXPECT_EQ(v11.inferred(0), "i32[2,10]");
  NodeCase unknown("TopK", 11, 2);
  EXPECT_EQ(unknown.typed(DType::F32, Dims{3, 10}).typed(DType::I64, Dims{1}).inferred(), "f32[3,?0]");
}

TEST(TopK, Refusals) {
  const auto with_k = [](std::int64_t k) {
    return NodeCase("TopK", 11, 2).typed(DType::F32, Dims{3, 10}).constant(i64({1}, {k})).inferred();
  };
  EXPECT_THAT(with_k(11), HasSubstr("has 10 elements along axis 1, fewer than k = 11"));
  EXPECT_THAT(with_k(-1), HasSubstr("holds k = -1, expected >= 0"));
  EXPECT_THAT(NodeCase("TopK", 10, 2).typed(DType::I32, Dims{3}).constant(i64({1}, {1})).inferred(),
              HasSubstr("found i32"));
}

TEST(TopK, LowerIndexFirstAmongEqual) {
  NodeCase c("TopK", 11, 2);
  c.data(f32({2, 4}, {1, 3, 3, 2, 7, 0, 7, 7})).constant(i64({1}, {3}));
  const auto out = c.run();
  expect_near(out.at(0), {2, 3}, {3, 3, 2, 7, 7, 7});
  EXPECT_EQ(to_int64s(out.at(1)), (std::vector<std::int64_t>{1, 2, 3, 0, 2, 3}));
}

TEST(TopK, SmallestAlongAnOuterAxis) {
  NodeCase c("TopK", 11, 2);
  c.data(i64({3, 2}, {5, 1, 4, 2, 3, 3})).constant(i64({1}, {2})).attr("axis", 0).attr("largest", 0);
  const auto out = c.run();
  EXPECT_EQ(to_int64s(out.at(0)), (std::vector<std::int64_t>{3, 1, 4, 2}));
  EXPECT_EQ(to_int64s(out.at(1)), (std::vector<std::int64_t>{2, 0, 1, 1}));
}

TEST(TopK, NanIsLargest) {
  NodeCase c("TopK", 11, 2);
  c.data(f32({4}, {1, std::nan(""), 2, std::nan("")})).constant(i64({1}, {3}));
  EXPECT_EQ(to_int64s(c.run().at(1)), (std::vector<std::int64_t>{1, 3, 2}));
}

}  // namespace
}  // namespace atc::ops
