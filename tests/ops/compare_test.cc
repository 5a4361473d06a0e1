#include <limits>

#include "ops/node_case.h"
#include "ops/shape_value.h"

namespace atc::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Compare, AllRelations) {
  auto run = [](const char* op) {
    NodeCase c(op, 16);
    c.data(f32({4}, {1, 2, 3, std::numeric_limits<double>::quiet_NaN()})).data(f32({}, {2}));
    EXPECT_EQ(c.inferred(), "bool[4]");
    return to_int64s(c.run_one());
  };
  EXPECT_THAT(run("Equal"), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(run("Less"), ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(run("LessOrEqual"), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(run("Greater"), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(run("GreaterOrEqual"), ElementsAre(0, 1, 1, 0));
}

TEST(Compare, ExactOnWideIntegers) {
  NodeCase c("Less", 13);
  c.data(i64({1}, {(1LL << 60)})).data(i64({1}, {(1LL << 60) + 1}));
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(1));
  NodeCase u("Greater", 13);
  u.data(from_int64s(DType::U64, {1}, std::vector<std::int64_t>{-1})).data(tensor_of(DType::U64, {1}, {1}));
  EXPECT_THAT(to_int64s(u.run_one()), ElementsAre(1));
}

TEST(Compare, Refusals) {
  EXPECT_THAT(NodeCase("Less", 13).typed(DType::Bool, Dims{1}).typed(DType::Bool, Dims{1}).inferred(),
              HasSubstr("must be of a numeric type"));
  EXPECT_THAT(NodeCase("Equal", 13).typed(DType::F32, Dims{2}).typed(DType::F32, Dims{3}).inferred(),
              HasSubstr("do not broadcast"));
  EXPECT_THAT(NodeCase("Equal", 13).typed(DType::F32, Dims{2}).typed(DType::I32, Dims{2}).inferred(),
              HasSubstr("input 1"));
}

TEST(Equal, Strings) {
  Tensor a;
  a.dtype = DType::String;
  a.shape = {2};
  a.strings = {"x", "yy"};
  Tensor b = a;
  b.strings = {"x", "y"};
  NodeCase c("Equal", 19);
  c.data(a).data(b);
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(1, 0));
}

TEST(Equal, LegacyAxis) {
  NodeCase c("Equal", 1);
  c.data(tensor_of(DType::I32, {2, 2}, {1, 2, 3, 4})).data(tensor_of(DType::I32, {2}, {1, 4}));
  c.attr("broadcast", 1).attr("axis", 0);
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(1, 0, 0, 1));
}

TEST(Equal, EvaluatesShapeValues) {
  const ir::Shape dims = {literal(2), ir::Dim::named("n"), literal(-1)};
  EXPECT_EQ(NodeCase("Equal", 13).shape_value(dims).constant(i64({1}, {-1})).inferred_elements(), "0,0,1");
  EXPECT_EQ(NodeCase("Equal", 13).shape_value(dims).constant(i64({1}, {2})).inferred_elements(), "1,?0,0");
  EXPECT_EQ(NodeCase("Less", 13).constant(i64({1}, {-1})).shape_value(dims).inferred_elements(), "1,1,0");
  EXPECT_EQ(NodeCase("GreaterOrEqual", 13).shape_value(dims).shape_value(dims).inferred_elements(), "1,1,1");
}

TEST(Logic, TruthTables) {
  auto run = [](const char* op) {
    NodeCase c(op, 7);
    c.data(tensor_of(DType::Bool, {2, 1}, {0, 1})).data(tensor_of(DType::Bool, {2}, {0, 1}));
    return to_int64s(c.run_one());
  };
  EXPECT_THAT(run("And"), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(run("Or"), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(run("Xor"), ElementsAre(0, 1, 1, 0));
  NodeCase c("Not", 1);
  c.data(tensor_of(DType::Bool, {2}, {0, 1}));
  EXPECT_THAT(to_int64s(c.run_one()), ElementsAre(1, 0));
  EXPECT_THAT(NodeCase("And", 7).typed(DType::I32, Dims{1}).typed(DType::Bool, Dims{1}).inferred(),
              HasSubstr("must be of type bool"));
  EXPECT_THAT(NodeCase("Not", 1).typed(DType::F32, Dims{1}).inferred(), HasSubstr("must be of type bool"));
}

}  // namespace
}  // namespace atc::ops
