#include "ops/node_case.h"
#include "ops/shape_value.h"
#include "ops/vector_emitter.h"
#include "ops/vector_interpreter.h"

namespace atc::ops {
namespace {

using ::testing::HasSubstr;

Tensor bools(Dims shape, std::vector<std::int64_t> v) {
  return from_int64s(DType::Bool, std::move(shape), v);
}

TEST(Where, BroadcastsAllThree) {
  NodeCase c("Where", 16);
  c.data(bools({2, 1}, {1, 0})).data(f32({3}, {1, 2, 3})).data(f32({}, {9}));
  expect_near(c.run_one(), {2, 3}, {1, 2, 3, 9, 9, 9});
}

TEST(Where, KeepsSixtyFourBits) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  const Tensor y =
      NodeCase("Where", 16).data(bools({2}, {0, 1})).data(i64({1}, {-big})).data(i64({1}, {big})).run_one();
  EXPECT_EQ(to_int64s(y), (std::vector<std::int64_t>{big, -big}));
}

TEST(Where, Refusals) {
  const auto typed = [](DType condition, DType x, Dims y) {
    return NodeCase("Where", 16).typed(condition, Dims{2}).typed(x, Dims{2}).typed(DType::F32, y).inferred();
  };
  EXPECT_EQ(typed(DType::Bool, DType::F32, {2}), "f32[2]");
  EXPECT_THAT(typed(DType::F32, DType::F32, {2}), HasSubstr("must be of type bool"));
  EXPECT_THAT(typed(DType::Bool, DType::I32, {2}), HasSubstr("i32"));
  EXPECT_THAT(typed(DType::Bool, DType::F32, {3}), HasSubstr("do not broadcast"));
}

TEST(Where, EvaluatesShapeValues) {
  // -1 stands for "keep the axis", as exporters of Expand write it.
  NodeCase c("Where", 16);
  c.constant(tensor_of(DType::Bool, {3}, {1, 0, 0})).constant(i64({1}, {1}));
  c.shape_value({literal(-1), ir::Dim::named("n"), literal(3)});
  EXPECT_EQ(c.inferred_elements(), "1,n,3");
}

TEST(Where, VectorFormSelects) {
  NodeCase c("Where", 16);
  c.typed(DType::Bool, Dims{4}).typed(DType::F32, Dims{4}).typed(DType::F32, Dims{4});
  ASSERT_TRUE(c.infer().ok());
  c.node().output(0)->type = *c.types[0];
  kernels::VectorProgram program;
  const int condition = program.load(0, kernels::RegType::B8);
  const int x = program.load(1, kernels::RegType::F32), y = program.load(2, kernels::RegType::F32);
  VectorEmitter e(c.node(), program, {condition, x, y});
  ASSERT_TRUE(Registry::instance().find(c.node())->vector(e).ok());
  const auto out = static_cast<std::size_t>(e.output(0));
  EXPECT_EQ(interpret(program, {1, 5, 6})[out], 5);
  EXPECT_EQ(interpret(program, {0, 5, 6})[out], 6);
}

}  // namespace
}  // namespace atc::ops
