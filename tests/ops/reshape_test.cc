#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string reshaped(const ir::Shape& from, std::vector<std::int64_t> to, bool allow_zero = false) {
  NodeCase c("Reshape", 14);
  c.typed(DType::F32, from).constant(i64({static_cast<std::int64_t>(to.size())}, to));
  if (allow_zero) c.attr("allowzero", 1);
  return c.inferred();
}

const ir::Dim kN = ir::Dim::named("n");
ir::Shape dims(std::initializer_list<ir::Dim> d) { return d; }

TEST(Reshape, InfersZeroAndMinusOne) {
  EXPECT_EQ(reshaped(ir::to_shape({2, 3, 4}), {0, -1}), "f32[2,12]");
  EXPECT_EQ(reshaped(ir::to_shape({2, 3, 4}), {4, 6}), "f32[4,6]");
  EXPECT_EQ(reshaped(ir::to_shape({2, 0}), {0, 5}, true), "f32[0,5]");
  EXPECT_EQ(reshaped(ir::to_shape({}), {1}), "f32[1]");
}

TEST(Reshape, CancelsSymbols) {
  EXPECT_EQ(reshaped(dims({kN, literal(3), literal(4)}), {0, -1}), "f32[n,12]");
  EXPECT_EQ(reshaped(dims({kN, literal(12)}), {-1, 3, 4}), "f32[n,3,4]");
  EXPECT_EQ(reshaped(dims({kN, literal(12)}), {-1, 24}), "f32[?0,24]");
  NodeCase c("Reshape", 14);  // the target comes from the shape of the input itself
  c.typed(DType::F32, dims({kN, literal(12)})).shape_value({kN, literal(-1), literal(4)});
  EXPECT_EQ(c.inferred(), "f32[n,3,4]");
  NodeCase open("Reshape", 14);
  open.typed(DType::F32, Dims{2, 6}).shape_value({ir::Dim::named("m"), literal(3)});
  EXPECT_EQ(open.inferred(), "f32[4,3]");
}

TEST(Reshape, Refusals) {
  EXPECT_THAT(reshaped(ir::to_shape({2, 3}), {4}),
              HasSubstr("input of shape [2,3] cannot be reshaped to [4]"));
  EXPECT_THAT(reshaped(ir::to_shape({2, 3}), {-1, 4}), HasSubstr("cannot be reshaped"));
  EXPECT_THAT(reshaped(ir::to_shape({2, 3}), {-1, -1}), HasSubstr("-1 twice"));
  EXPECT_THAT(reshaped(ir::to_shape({2, 3}), {-2, 3}), HasSubstr("negative length -2"));
  EXPECT_THAT(reshaped(ir::to_shape({2, 3}), {2, 3, 0}),
              HasSubstr("copies axis 2 of the input, whose rank is 2"));
  EXPECT_THAT(NodeCase("Reshape", 13)
                  .typed(DType::F32, Dims{2})
                  .typed(DType::I64, Dims{1})
                  .attr("allowzero", 1)
                  .inferred(),
              HasSubstr("allowzero does not exist in opset 13"));
}

TEST(Reshape, EvaluatesEveryForm) {
  NodeCase c("Reshape", 5);
  c.data(f32({2, 2}, {1, 2, 3, 4})).data(i64({3}, {0, -1, 1}));
  expect_near(c.run_one(), {2, 2, 1}, {1, 2, 3, 4});
  NodeCase old("Reshape", 1);
  old.data(f32({4}, {1, 2, 3, 4})).ints("shape", {2, -1});
  expect_near(old.run_one(), {2, 2}, {1, 2, 3, 4});
}

TEST(Reshape, KeepsShapeValues) {
  EXPECT_EQ(NodeCase("Reshape", 13).shape_value({kN}).constant(i64({0}, {})).inferred_elements(), "n");
}

TEST(Flatten, InfersBothSides) {
  auto flat = [](int axis) {
    return NodeCase("Flatten", 13).typed(DType::F32, Dims{2, 3, 4}).attr("axis", axis).inferred();
  };
  EXPECT_EQ(flat(0), "f32[1,24]");
  EXPECT_EQ(flat(2), "f32[6,4]");
  EXPECT_EQ(flat(3), "f32[24,1]");
  EXPECT_EQ(flat(-1), "f32[6,4]");
  EXPECT_THAT(flat(4), HasSubstr("axis is 4, outside [-3, 3]"));
  EXPECT_EQ(NodeCase("Flatten", 13).typed(DType::F32, dims({kN, literal(3), literal(4)})).inferred(),
            "f32[n,12]");
  NodeCase c("Flatten", 9);
  c.data(f32({2, 1, 2}, {1, 2, 3, 4}));
  expect_near(c.run_one(), {2, 2}, {1, 2, 3, 4});
}

TEST(Squeeze, StatedAndAllAxes) {
  EXPECT_EQ(NodeCase("Squeeze", 11).typed(DType::F32, Dims{1, 3, 1}).ints("axes", {-1}).inferred(),
            "f32[1,3]");
  EXPECT_EQ(NodeCase("Squeeze", 13).typed(DType::F32, Dims{1, 3, 1}).constant(i64({1}, {0})).inferred(),
            "f32[3,1]");
  EXPECT_EQ(NodeCase("Squeeze", 13).typed(DType::F32, Dims{1, 3, 1}).inferred(), "f32[3]");
  EXPECT_EQ(NodeCase("Squeeze", 13).typed(DType::F32, dims({kN, literal(1)})).inferred(), "f32[*]");
  EXPECT_THAT(NodeCase("Squeeze", 13).typed(DType::F32, Dims{1, 3}).constant(i64({1}, {1})).inferred(),
              HasSubstr("axis 1 to squeeze has length 3"));
  NodeCase c("Squeeze", 13);
  c.data(f32({1, 2}, {1, 2})).data(i64({1}, {0}));
  expect_near(c.run_one(), {2}, {1, 2});
}

TEST(Unsqueeze, AxesOfTheResult) {
  EXPECT_EQ(NodeCase("Unsqueeze", 11).typed(DType::F32, Dims{3}).ints("axes", {2, 0}).inferred(),
            "f32[1,3,1]");
  EXPECT_EQ(NodeCase("Unsqueeze", 13).typed(DType::F32, Dims{3}).constant(i64({1}, {-1})).inferred(),
            "f32[3,1]");
  EXPECT_EQ(NodeCase("Unsqueeze", 13).typed(DType::F32, Dims{3}).typed(DType::I64, Dims{2}).inferred(),
            "f32[?0,?1,?2]");
  EXPECT_THAT(NodeCase("Unsqueeze", 13).typed(DType::F32, Dims{3}).constant(i64({1}, {2})).inferred(),
              HasSubstr("axis 2"));
  EXPECT_THAT(NodeCase("Unsqueeze", 11).typed(DType::F32, Dims{3}).inferred(),
              HasSubstr("attribute axes is missing"));
  NodeCase c("Unsqueeze", 13);
  c.data(f32({2}, {1, 2})).data(i64({2}, {0, 2}));
  expect_near(c.run_one(), {1, 2, 1}, {1, 2});
  EXPECT_EQ(NodeCase("Unsqueeze", 11).shape_value({kN}).ints("axes", {0}).inferred_elements(), "n");
}

}  // namespace
}  // namespace atc::ops
