#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ir::Dim kN = ir::Dim::named("n");

TEST(Shape, IsAShapeValue) {
  const ir::Shape shape = {literal(2), kN, literal(4)};
  EXPECT_EQ(NodeCase("Shape", 13).typed(DType::F32, shape).inferred_elements(), "2,n,4");
  EXPECT_EQ(NodeCase("Shape", 15).typed(DType::F32, shape).attr("start", 1).inferred_elements(), "n,4");
  EXPECT_EQ(NodeCase("Shape", 15).typed(DType::F32, shape).attr("start", -1).inferred_elements(), "4");
  EXPECT_EQ(NodeCase("Shape", 15).typed(DType::F32, shape).attr("end", -1).inferred_elements(), "2,n");
  EXPECT_EQ(NodeCase("Shape", 15).typed(DType::F32, shape).attr("start", 2).attr("end", 1).inferred(),
            "i64[0]");
  EXPECT_EQ(NodeCase("Shape", 13).typed(DType::F32, std::nullopt).inferred(), "i64[?0]");
  EXPECT_THAT(NodeCase("Shape", 13).typed(DType::F32, shape).attr("start", 1).inferred(),
              HasSubstr("attribute start does not exist in opset 13"));
  NodeCase c("Shape", 15);
  c.data(f32({2, 0, 3}, {})).attr("start", -9).attr("end", 9);
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(2, 0, 3));
}

TEST(Size, IsAShapeValue) {
  EXPECT_EQ(NodeCase("Size", 13).typed(DType::F32, Dims{2, 3}).inferred_elements(), "6");
  EXPECT_EQ(NodeCase("Size", 13).typed(DType::F32, ir::Shape{kN, literal(1)}).inferred_elements(), "n");
  EXPECT_EQ(NodeCase("Size", 13).typed(DType::F32, ir::Shape{kN, literal(2)}).inferred_elements(), "(none)");
  EXPECT_EQ(NodeCase("Size", 13).typed(DType::F32, ir::Shape{kN, literal(0)}).inferred_elements(), "0");
  EXPECT_THAT(NodeCase("Size", 13).typed(DType::F32, Dims{INT64_MAX, 4}).inferred(),
              HasSubstr("more elements than"));
  NodeCase c("Size", 1);
  c.data(f32({2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(c.run_one().shape, Dims{});
}

TEST(Expand, InfersBroadcast) {
  auto expand = [](const Dims& from, std::vector<std::int64_t> to) {
    NodeCase c("Expand", 13);
    return c.typed(DType::F32, from).constant(i64({static_cast<std::int64_t>(to.size())}, to)).inferred();
  };
  EXPECT_EQ(expand({3, 1}, {2, 1, 4}), "f32[2,3,4]");
  EXPECT_EQ(expand({3, 4}, {1}), "f32[3,4]");
  EXPECT_THAT(expand({3}, {4}), HasSubstr("does not expand to [4]"));
  EXPECT_THAT(expand({3}, {-1}), HasSubstr("negative length -1"));
  NodeCase c("Expand", 8);
  c.data(f32({2, 1}, {1, 2})).data(i64({1}, {2}));
  expect_near(c.run_one(), {2, 2}, {1, 1, 2, 2});
  EXPECT_EQ(NodeCase("Expand", 13).typed(DType::F32, Dims{1}).shape_value({kN, literal(2)}).inferred(),
            "f32[n,2]");
}

TEST(Tile, FirstVersionTakesWholeFloats) {
  NodeCase c("Tile", 1);
  c.typed(DType::F32, {2, 3}).constant(f32({}, {2})).constant(f32({}, {1}));
  EXPECT_EQ(c.inferred(), "f32[2,6]");
}

TEST(Tile, RepeatsEveryAxis) {
  NodeCase c("Tile", 13);
  c.data(f32({1, 2}, {1, 2})).constant(i64({2}, {2, 2}));
  expect_near(c.run_one(), {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2});
  NodeCase old("Tile", 1);
  old.data(f32({2, 1}, {1, 2})).constant(f32({1}, {2})).constant(f32({1}, {1}));
  expect_near(old.run_one(), {2, 2}, {1, 1, 2, 2});
  EXPECT_EQ(NodeCase("Tile", 13).typed(DType::F32, Dims{1, 3}).shape_value({kN, literal(1)}).inferred(),
            "f32[n,3]");
  EXPECT_THAT(NodeCase("Tile", 13).typed(DType::F32, Dims{2}).constant(i64({2}, {1, 1})).inferred(),
              HasSubstr("has 2 repeats for an input of rank 1"));
  EXPECT_THAT(NodeCase("Tile", 13).typed(DType::F32, Dims{2}).constant(i64({1}, {-1})).inferred(),
              HasSubstr("negative repeat -1"));
}

}  // namespace
}  // namespace atc::ops
