#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using List = std::vector<std::int64_t>;

Tensor list(const List& values) { return i64({static_cast<std::int64_t>(values.size())}, values); }

/// A 1-D slice of [0, 1, ..., 9], evaluated; NodeCase checks that inference agrees.
std::vector<double> sliced(std::int64_t start, std::int64_t end, std::int64_t step) {
  NodeCase c("Slice", 13);
  c.data(f32({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  c.constant(list({start})).constant(list({end})).constant(list({0})).constant(list({step}));
  return to_doubles(c.run_one());
}

TEST(Slice, BoundsAndSteps) {
  EXPECT_THAT(sliced(2, 5, 1), ElementsAre(2, 3, 4));
  EXPECT_THAT(sliced(-3, INT64_MAX, 2), ElementsAre(7, 9));
  EXPECT_THAT(sliced(8, 2, -3), ElementsAre(8, 5));
  EXPECT_THAT(sliced(-1, INT64_MIN, -4), ElementsAre(9, 5, 1));
  EXPECT_THAT(sliced(100, 3, -5), ElementsAre(9, 4));
  EXPECT_THAT(sliced(-100, 2, 1), ElementsAre(0, 1));
  EXPECT_TRUE(sliced(5, 5, 1).empty());
  EXPECT_TRUE(sliced(5, 8, -1).empty());
  EXPECT_THAT(sliced(3, 10, INT64_MAX), ElementsAre(3));
  EXPECT_THAT(sliced(3, -11, INT64_MIN), ElementsAre(3));
}

TEST(Slice, InnerAxesAndOldAttributes) {
  NodeCase c("Slice", 1);
  c.data(f32({2, 3}, {1, 2, 3, 4, 5, 6})).ints("starts", {0, 1}).ints("ends", {-1, 1000});
  expect_near(c.run_one(), {1, 2}, {2, 3});
  NodeCase axis("Slice", 9);
  axis.data(f32({2, 3}, {1, 2, 3, 4, 5, 6})).ints("starts", {2}).ints("ends", {3}).ints("axes", {1});
  expect_near(axis.run_one(), {2, 1}, {3, 6});
}

TEST(Slice, InfersAroundSymbols) {
  const ir::Dim n = ir::Dim::named("n");
  const ir::Shape shape = {n, literal(8)};
  auto slice = [&](const List& starts, const List& ends, const List& axes) {
    NodeCase c("Slice", 13);
    c.typed(DType::F32, shape).constant(list(starts)).constant(list(ends)).constant(list(axes));
    return c.inferred();
  };
  EXPECT_EQ(slice({1}, {INT64_MAX}, {1}), "f32[n,7]");
  EXPECT_EQ(slice({0}, {INT64_MAX}, {0}), "f32[n,8]");
  EXPECT_EQ(slice({1}, {INT64_MAX}, {0}), "f32[?0,8]");
  NodeCase unknown("Slice", 13);
  unknown.typed(DType::F32, shape).typed(DType::I64, Dims{1}).typed(DType::I64, Dims{1}).constant(list({1}));
  EXPECT_EQ(unknown.inferred(), "f32[n,?0]");
  NodeCase axes("Slice", 13);
  axes.typed(DType::F32, shape).constant(list({0})).constant(list({1})).typed(DType::I64, Dims{1});
  EXPECT_EQ(axes.inferred(), "f32[?0,?1]");
  NodeCase end("Slice", 13);  // x[0:n] of an axis n is the axis
  end.typed(DType::F32, shape).constant(list({0})).shape_value({n}).constant(list({0}));
  EXPECT_EQ(end.inferred(), "f32[n,8]");
}

TEST(Slice, CutsShapeValues) {
  const ir::Shape dims = {literal(1), ir::Dim::named("n"), literal(3)};
  EXPECT_EQ(NodeCase("Slice", 13)
                .shape_value(dims)
                .constant(list({1}))
                .constant(list({INT64_MAX}))
                .inferred_elements(),
            "n,3");
  NodeCase back("Slice", 13);
  back.shape_value(dims)
      .constant(list({-1}))
      .constant(list({INT64_MIN}))
      .constant(list({0}))
      .constant(list({-1}));
  EXPECT_EQ(back.inferred_elements(), "3,n,1");
}

TEST(Slice, Refusals) {
  auto slice = [&](const List& starts, const List& ends, const List& axes, const List& steps) {
    NodeCase c("Slice", 13);
    c.typed(DType::F32, Dims{4, 4}).constant(list(starts)).constant(list(ends)).constant(list(axes));
    return c.constant(list(steps)).inferred();
  };
  EXPECT_THAT(slice({0}, {1}, {2}, {1}), HasSubstr("axes [2] do not name different axes"));
  EXPECT_THAT(slice({0, 0}, {1, 1}, {1, -1}, {1, 1}), HasSubstr("do not name different axes"));
  EXPECT_THAT(slice({0}, {1}, {0}, {0}), HasSubstr("the step of axis 0 is 0"));
  EXPECT_THAT(slice({0, 0}, {1}, {0}, {1}), HasSubstr("differ in length"));
  EXPECT_THAT(NodeCase("Slice", 9).typed(DType::F32, Dims{4}).inferred(), HasSubstr("is missing"));
}

}  // namespace
}  // namespace atc::ops
