#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Constant, EveryAttributeForm) {
  auto make = [](const char* name, ir::Attribute value) {
    NodeCase c("Constant", 13);
    c.attr(name, std::move(value));
    return c.run_one();
  };
  expect_near(make("value", f32({2}, {1, 2})), {2}, {1, 2});
  expect_near(make("sparse_value", f32({2}, {0, 2})), {2}, {0, 2});
  expect_near(make("value_float", 1.5F), {}, {1.5});
  expect_near(make("value_floats", std::vector<float>{1, 2}), {2}, {1, 2});
  expect_near(make("value_int", std::int64_t{7}), {}, {7});
  expect_near(make("value_ints", std::vector<std::int64_t>{7, 8}), {2}, {7, 8});
  EXPECT_THAT(make("value_string", std::string("s")).strings, ElementsAre("s"));
  EXPECT_THAT(make("value_strings", std::vector<std::string>{"s", "t"}).strings, ElementsAre("s", "t"));
}

TEST(Constant, Refusals) {
  EXPECT_THAT(NodeCase("Constant", 13).inferred(), HasSubstr("must have exactly one of value"));
  EXPECT_THAT(NodeCase("Constant", 13).attr("value_int", 1).attr("value_float", 1.0F).inferred(),
              HasSubstr("must have exactly one of value"));
  EXPECT_THAT(NodeCase("Constant", 11).attr("value_int", 1).inferred(),
              HasSubstr("does not exist in opset 11"));
}

TEST(Constant, IsAShapeValue) {
  EXPECT_EQ(NodeCase("Constant", 13).ints("value_ints", {-1, 3}).inferred_elements(), "-1,3");
}

TEST(ConstantOfShape, FillsTheShape) {
  NodeCase c("ConstantOfShape", 9);
  c.constant(i64({2}, {2, 2})).attr("value", i64({1}, {5}));
  EXPECT_EQ(c.inferred(), "i64[2,2]");
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(5, 5, 5, 5));
  NodeCase zero("ConstantOfShape", 9);
  zero.data(i64({0}, {}));
  EXPECT_EQ(zero.inferred(), "f32[]");
  expect_near(zero.run_one(), {}, {0});
  EXPECT_EQ(NodeCase("ConstantOfShape", 9).shape_value({ir::Dim::named("n"), literal(2)}).inferred(),
            "f32[n,2]");
  EXPECT_EQ(NodeCase("ConstantOfShape", 9)
                .constant(i64({1}, {3}))
                .attr("value", i64({1}, {-1}))
                .inferred_elements(),
            "-1,-1,-1");
  EXPECT_THAT(NodeCase("ConstantOfShape", 9).constant(i64({1}, {-2})).inferred(),
              HasSubstr("negative length -2"));
  EXPECT_THAT(
      NodeCase("ConstantOfShape", 9).constant(i64({1}, {2})).attr("value", i64({2}, {1, 2})).inferred(),
      HasSubstr("must be a tensor of one element"));
}

TEST(EyeLike, DiagonalAndType) {
  NodeCase c("EyeLike", 9);
  c.data(f32({2, 3}, {9, 9, 9, 9, 9, 9})).attr("k", 1).attr("dtype", 7);
  EXPECT_EQ(c.inferred(), "i64[2,3]");
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(0, 1, 0, 0, 0, 1));
  EXPECT_THAT(NodeCase("EyeLike", 9).typed(DType::F32, Dims{2}).inferred(), HasSubstr("rank"));
  EXPECT_THAT(NodeCase("EyeLike", 9).typed(DType::F32, Dims{2, 2}).attr("dtype", 8).inferred(),
              HasSubstr("output type string is not"));
}

TEST(Range, CountsExactly) {
  auto range = [](DType t, double start, double limit, double delta) {
    NodeCase c("Range", 11);
    c.constant(scalar_tensor(t, start)).constant(scalar_tensor(t, limit)).constant(scalar_tensor(t, delta));
    return to_doubles(c.run_one());  // checks the inferred length too
  };
  EXPECT_THAT(range(DType::I64, 2, 9, 3), ElementsAre(2, 5, 8));
  EXPECT_THAT(range(DType::I32, 10, 6, -2), ElementsAre(10, 8));
  EXPECT_THAT(range(DType::F32, 1, 2, 0.5), ElementsAre(1, 1.5));
  EXPECT_TRUE(range(DType::I64, 3, 3, 1).empty());
  EXPECT_TRUE(range(DType::F64, 3, 5, -1).empty());
}

TEST(Range, ShapeValuesAndRefusals) {
  NodeCase c("Range", 11);
  c.constant(i64({}, {0})).shape_value({ir::Dim::named("n")}).constant(i64({}, {1}));
  EXPECT_EQ(c.inferred(), "i64[n]");
  EXPECT_EQ(NodeCase("Range", 11)
                .constant(i64({}, {0}))
                .constant(i64({}, {3}))
                .constant(i64({}, {1}))
                .inferred_elements(),
            "0,1,2");
  EXPECT_THAT(
      NodeCase("Range", 11).constant(i64({}, {0})).constant(i64({}, {3})).constant(i64({}, {0})).inferred(),
      HasSubstr("do not state a range"));
  EXPECT_THAT(NodeCase("Range", 11)
                  .typed(DType::F32, Dims{2})
                  .typed(DType::F32, Dims{})
                  .typed(DType::F32, Dims{})
                  .inferred(),
              HasSubstr("must be a scalar"));
}

TEST(Trilu, BothTriangles) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  NodeCase upper("Trilu", 14);
  upper.data(x);
  expect_near(upper.run_one(), {2, 3}, {1, 2, 3, 0, 5, 6});
  NodeCase lower("Trilu", 14);
  lower.data(x).data(i64({}, {1})).attr("upper", 0);
  expect_near(lower.run_one(), {2, 3}, {1, 2, 0, 4, 5, 6});
  EXPECT_THAT(NodeCase("Trilu", 14).typed(DType::F32, Dims{3}).inferred(), HasSubstr("rank"));
}

TEST(CumSum, ExclusiveAndReverse) {
  auto run = [](const char* op, int exclusive, int reverse) {
    NodeCase c(op, 26);
    c.data(f32({2, 3}, {1, 2, 3, 4, 5, 6}))
        .data(i64({}, {-1}))
        .attr("exclusive", exclusive)
        .attr("reverse", reverse);
    return to_doubles(c.run_one());
  };
  EXPECT_THAT(run("CumSum", 0, 0), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_THAT(run("CumSum", 1, 0), ElementsAre(0, 1, 3, 0, 4, 9));
  EXPECT_THAT(run("CumSum", 0, 1), ElementsAre(6, 5, 3, 15, 11, 6));
  EXPECT_THAT(run("CumProd", 1, 1), ElementsAre(6, 3, 1, 30, 6, 1));
  EXPECT_THAT(NodeCase("CumSum", 14).typed(DType::F32, Dims{3}).constant(i64({}, {1})).inferred(),
              HasSubstr("must be one axis of an input of rank 1"));
}

TEST(ReverseSequence, ByLengthOfEachBatch) {
  NodeCase c("ReverseSequence", 10);
  c.data(f32({2, 3}, {1, 2, 3, 4, 5, 6})).data(i64({2}, {2, 3})).attr("batch_axis", 0).attr("time_axis", 1);
  expect_near(c.run_one(), {2, 3}, {2, 1, 3, 6, 5, 4});
  EXPECT_THAT(NodeCase("ReverseSequence", 10)
                  .typed(DType::F32, Dims{2, 3})
                  .typed(DType::I64, Dims{3})
                  .attr("batch_axis", 1)
                  .attr("time_axis", 1)
                  .inferred(),
              HasSubstr("batch_axis and time_axis are 1 and 1"));
}

}  // namespace
}  // namespace atc::ops
