#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The diagnostic of evaluating the node on the inputs.
std::string fault(NodeCase& c, const std::vector<const Tensor*>& inputs) {
  EvalContext ctx(c.node(), inputs);
  return Registry::instance().find(c.node())->reference(ctx).to_string();
}

TEST(Gather, InfersIndicesInPlaceOfTheAxis) {
  NodeCase c("Gather", 13);
  c.typed(DType::F32, Dims{5, 6, 7}).typed(DType::I64, Dims{2, 3}).attr("axis", -2);
  EXPECT_EQ(c.inferred(), "f32[5,2,3,7]");
  EXPECT_EQ(NodeCase("Gather", 13).typed(DType::F32, Dims{5}).typed(DType::I32, Dims{}).inferred(), "f32[]");
}

TEST(Gather, Refusals) {
  EXPECT_THAT(NodeCase("Gather", 13).typed(DType::F32, Dims{}).typed(DType::I64, Dims{1}).inferred(),
              HasSubstr("rank"));
  EXPECT_THAT(NodeCase("Gather", 13).typed(DType::F32, Dims{2}).typed(DType::F32, Dims{1}).inferred(),
              HasSubstr("must be of type i32 or i64"));
  EXPECT_THAT(
      NodeCase("Gather", 13).typed(DType::F32, Dims{2}).typed(DType::I64, Dims{1}).attr("axis", 1).inferred(),
      HasSubstr("axis"));
  NodeCase c("Gather", 13);
  const Tensor data = f32({2}, {1, 2});
  const Tensor index = i64({1}, {2});
  EXPECT_THAT(fault(c, {&data, &index}), HasSubstr("index 2 is outside an axis of length 2"));
}

TEST(Gather, NegativeIndicesCountFromTheEnd) {
  NodeCase c("Gather", 13);
  c.data(f32({2, 3}, {1, 2, 3, 4, 5, 6})).data(i64({2}, {-1, 0})).attr("axis", 1);
  expect_near(c.run_one(), {2, 2}, {3, 1, 6, 4});
}

TEST(Gather, PicksShapeValues) {
  const ir::Shape dims = {literal(2), ir::Dim::named("n"), literal(9)};
  EXPECT_EQ(NodeCase("Gather", 13).shape_value(dims).constant(i64({}, {1})).inferred_elements(), "n");
  EXPECT_EQ(NodeCase("Gather", 13).shape_value(dims).constant(i64({2}, {-1, 0})).inferred_elements(), "9,2");
  EXPECT_THAT(NodeCase("Gather", 13).shape_value(dims).constant(i64({}, {3})).inferred_elements(),
              HasSubstr("has the index 3, outside an axis of length 3"));
}

TEST(GatherElements, ReplacesOneCoordinate) {
  NodeCase c("GatherElements", 13);
  c.data(f32({2, 2}, {1, 2, 3, 4})).data(i64({2, 1}, {-1, 0})).attr("axis", 1);
  expect_near(c.run_one(), {2, 1}, {2, 3});
  EXPECT_THAT(
      NodeCase("GatherElements", 13).typed(DType::F32, Dims{2, 2}).typed(DType::I64, Dims{2}).inferred(),
      HasSubstr("rank"));
}

TEST(GatherND, TuplesAndBatches) {
  NodeCase c("GatherND", 13);
  c.data(f32({2, 2}, {1, 2, 3, 4})).data(i64({2, 2}, {0, 1, -1, 0}));
  expect_near(c.run_one(), {2}, {2, 3});
  NodeCase batched("GatherND", 13);
  batched.data(f32({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7})).data(i64({2, 1}, {1, 0})).attr("batch_dims", 1);
  expect_near(batched.run_one(), {2, 2}, {2, 3, 4, 5});
  EXPECT_THAT(NodeCase("GatherND", 13).typed(DType::F32, Dims{2}).typed(DType::I64, Dims{1, 2}).inferred(),
              HasSubstr("index tuples of length 2"));
}

TEST(ScatterElements, InOrderWithReductions) {
  auto run = [](const char* reduction) {
    NodeCase c("ScatterElements", 18);
    c.data(f32({3}, {1, 2, 3}))
        .data(i64({3}, {1, 1, -1}))
        .data(f32({3}, {10, 4, 1}))
        .attr("reduction", reduction);
    return to_doubles(c.run_one());
  };
  EXPECT_THAT(run("none"), ElementsAre(1, 4, 1));
  EXPECT_THAT(run("add"), ElementsAre(1, 16, 4));
  EXPECT_THAT(run("mul"), ElementsAre(1, 80, 3));
  EXPECT_THAT(run("max"), ElementsAre(1, 10, 3));
  EXPECT_THAT(run("min"), ElementsAre(1, 2, 1));
}

// What ScatterElements was called in opset 9.
TEST(Scatter, WritesInOrder) {
  NodeCase c("Scatter", 9);
  c.data(f32({2, 2}, {1, 2, 3, 4})).data(i64({1, 2}, {1, 0})).data(f32({1, 2}, {7, 8}));
  expect_near(c.run_one(), {2, 2}, {1, 8, 7, 4});
  EXPECT_EQ(NodeCase("Scatter", 9)
                .typed(DType::F32, Dims{3})
                .typed(DType::I64, Dims{1})
                .typed(DType::F32, Dims{1})
                .attr("axis", 4)
                .inferred()
                .find("f32[3]"),
            std::string::npos);
}

TEST(ScatterElements, Refusals) {
  auto node = [](int version, const char* reduction) {
    NodeCase c("ScatterElements", version);
    c.typed(DType::F32, Dims{3})
        .typed(DType::I64, Dims{1})
        .typed(DType::F32, Dims{1})
        .attr("reduction", reduction);
    return c.inferred();
  };
  EXPECT_EQ(node(18, "max"), "f32[3]");
  EXPECT_THAT(node(16, "max"), HasSubstr("reduction must be none, add, mul, found 'max'"));
  EXPECT_THAT(node(13, "add"), HasSubstr("attribute reduction does not exist in opset 13"));
  NodeCase c("ScatterElements", 13);
  const Tensor data = f32({2}, {1, 2});
  const Tensor index = i64({1}, {0});
  const Tensor updates = f32({2}, {1, 2});
  EXPECT_THAT(fault(c, {&data, &index, &updates}),
              HasSubstr("indices of shape [1] and updates of shape [2] differ"));
}

TEST(ScatterND, SlicesAndReductions) {
  NodeCase c("ScatterND", 16);
  c.data(f32({3, 2}, {1, 2, 3, 4, 5, 6})).data(i64({2, 1}, {2, 2})).data(f32({2, 2}, {1, 1, 2, 2}));
  c.attr("reduction", "add");
  expect_near(c.run_one(), {3, 2}, {1, 2, 3, 4, 8, 9});
}

TEST(TensorScatter, LinearAndCircular) {
  const Tensor cache = f32({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const Tensor update = f32({2, 2, 1}, {10, 20, 30, 40});
  NodeCase linear("TensorScatter", 24);
  linear.data(cache).data(update).data(i64({2}, {1, 0}));
  expect_near(linear.run_one(), {2, 3, 1}, {1, 10, 20, 30, 40, 6});
  NodeCase circular("TensorScatter", 24);
  circular.data(cache).data(update).data(i64({2}, {2, 1})).attr("mode", "circular");
  expect_near(circular.run_one(), {2, 3, 1}, {20, 2, 10, 4, 30, 40});
  NodeCase from_start("TensorScatter", 24);
  from_start.data(cache).data(update);
  expect_near(from_start.run_one(), {2, 3, 1}, {10, 20, 3, 30, 40, 6});
  NodeCase outside("TensorScatter", 24);
  const Tensor at = i64({2}, {2, 0});
  EXPECT_THAT(fault(outside, {&cache, &update, &at}),
              HasSubstr("positions 2 to 3 of batch 0 are outside an axis of length 3"));
  EXPECT_THAT(NodeCase("TensorScatter", 24)
                  .typed(DType::F32, Dims{2, 3})
                  .typed(DType::F32, Dims{2, 2})
                  .attr("axis", 0)
                  .inferred(),
              HasSubstr("axis must not be the batch axis"));
}

TEST(OneHot, WrapsSinceOpset11) {
  auto run = [](int version) {
    NodeCase c("OneHot", version);
    c.data(i64({3}, {1, -1, 5})).constant(i64({}, {3})).data(f32({2}, {2, 7}));
    EXPECT_EQ(c.inferred(), "f32[3,3]");
    return to_doubles(c.run_one());
  };
  EXPECT_THAT(run(11), ElementsAre(2, 7, 2, 2, 2, 7, 2, 2, 2));
  EXPECT_THAT(run(9), ElementsAre(2, 7, 2, 2, 2, 2, 2, 2, 2));
}

TEST(OneHot, AxisOfTheOutput) {
  NodeCase c("OneHot", 11);
  c.data(i64({2}, {0, 1})).data(i64({1}, {2})).data(f32({2}, {0, 1})).attr("axis", 0);
  EXPECT_EQ(c.inferred(), "f32[?0,2]");
  expect_near(c.run_one(), {2, 2}, {1, 0, 0, 1});
}

TEST(Compress, AlongAnAxisOrFlattened) {
  NodeCase c("Compress", 11);
  c.data(f32({2, 3}, {1, 2, 3, 4, 5, 6})).data(tensor_of(DType::Bool, {2}, {0, 1})).attr("axis", 1);
  expect_near(c.run_one(), {2, 1}, {2, 5});
  NodeCase flat("Compress", 11);
  flat.data(f32({2, 2}, {1, 2, 3, 4})).constant(tensor_of(DType::Bool, {4}, {1, 0, 0, 1}));
  EXPECT_EQ(flat.inferred(), "f32[2]");
  expect_near(flat.run_one(), {2}, {1, 4});
}

TEST(NonZero, CoordinatesByRow) {
  NodeCase c("NonZero", 13);
  c.data(f32({2, 2}, {1, 0, 3, -0.0}));
  EXPECT_EQ(c.inferred(), "i64[2,?0]");
  const Tensor y = c.run_one();
  EXPECT_EQ(y.shape, (Dims{2, 2}));
  EXPECT_THAT(to_int64s(y), ElementsAre(0, 1, 0, 0));
}

}  // namespace
}  // namespace atc::ops
