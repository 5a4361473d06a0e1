#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Concat, InfersSumAndMergesOtherAxes) {
  NodeCase c("Concat", 13);
  c.typed(DType::F32, ir::Shape{ir::Dim::named("n"), ir::Dim::of(2)})
      .typed(DType::F32, Dims{4, 3})
      .attr("axis", -1);
  EXPECT_EQ(c.inferred(), "f32[4,5]");
  NodeCase open("Concat", 13);
  open.typed(DType::F32, ir::Shape{ir::Dim::named("n"), ir::Dim::of(2)})
      .typed(DType::F32, Dims{4, 2})
      .attr("axis", 0);
  EXPECT_EQ(open.inferred(), "f32[?0,2]");
}

TEST(Concat, Refusals) {
  EXPECT_THAT(NodeCase("Concat", 13).typed(DType::F32, Dims{2}).inferred(),
              HasSubstr("attribute axis is missing"));
  EXPECT_THAT(NodeCase("Concat", 13)
                  .typed(DType::F32, Dims{2, 2})
                  .typed(DType::F32, Dims{2, 3})
                  .attr("axis", 0)
                  .inferred(),
              HasSubstr("axis 1 is 3, not 2"));
  EXPECT_THAT(NodeCase("Concat", 13)
                  .typed(DType::F32, Dims{2})
                  .typed(DType::F32, Dims{2, 3})
                  .attr("axis", 0)
                  .inferred(),
              HasSubstr("must have rank 1"));
  EXPECT_THAT(NodeCase("Concat", 13).typed(DType::F32, Dims{2}).attr("axis", 1).inferred(),
              HasSubstr("axis"));
}

TEST(Concat, JoinsAlongAnInnerAxis) {
  NodeCase c("Concat", 1);  // the default axis is 1
  c.data(f32({2, 1}, {1, 2})).data(f32({2, 2}, {3, 4, 5, 6})).data(f32({2, 0}, {}));
  expect_near(c.run_one(), {2, 3}, {1, 3, 4, 2, 5, 6});
}

TEST(Concat, JoinsShapeValues) {
  NodeCase c("Concat", 13);
  c.shape_value({ir::Dim::named("n")}).constant(i64({2}, {-1, 64})).attr("axis", 0);
  EXPECT_EQ(c.inferred_elements(), "n,-1,64");
}

TEST(Split, InfersEqualStatedAndUnevenParts) {
  NodeCase equal("Split", 13, 3);
  equal.typed(DType::F32, Dims{2, 9}).attr("axis", 1);
  EXPECT_EQ(equal.inferred(2), "f32[2,3]");
  NodeCase stated("Split", 2, 2);
  stated.typed(DType::F32, Dims{5}).ints("split", {1, 4});
  EXPECT_EQ(stated.inferred(1), "f32[4]");
  NodeCase uneven("Split", 18, 3);
  uneven.typed(DType::F32, Dims{7}).attr("num_outputs", 3);
  EXPECT_EQ(uneven.inferred(0), "f32[3]");
  EXPECT_EQ(uneven.inferred(2), "f32[1]");
}

TEST(Split, Refusals) {
  EXPECT_THAT(NodeCase("Split", 13, 2).typed(DType::F32, Dims{5}).inferred(),
              HasSubstr("does not divide into 2"));
  EXPECT_THAT(NodeCase("Split", 13, 2).typed(DType::F32, Dims{5}).constant(i64({2}, {2, 2})).inferred(),
              HasSubstr("split [2,2] does not cut length 5 into 2 parts"));
  EXPECT_THAT(NodeCase("Split", 18, 2).typed(DType::F32, Dims{6}).attr("num_outputs", 3).inferred(),
              HasSubstr("num_outputs is 3, the node has 2"));
}

TEST(Split, CutsAlongAnInnerAxis) {
  NodeCase c("Split", 13, 2);
  c.data(f32({2, 3}, {1, 2, 3, 4, 5, 6})).data(i64({2}, {1, 2})).attr("axis", -1);
  const auto out = c.run();
  expect_near(out.at(0), {2, 1}, {1, 4});
  expect_near(out.at(1), {2, 2}, {2, 3, 5, 6});
}

TEST(Split, CutsShapeValues) {
  NodeCase c("Split", 13, 2);
  c.shape_value({literal(1), ir::Dim::named("n"), literal(3)}).constant(i64({2}, {2, 1}));
  EXPECT_EQ(c.inferred_elements(0), "1,n");
  EXPECT_EQ(c.inferred_elements(1), "3");
}

}  // namespace
}  // namespace atc::ops
