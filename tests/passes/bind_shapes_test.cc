#include "passes/bind_shapes.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

Diagnostic refused(std::string_view inputs, const Shapes& shapes) {
  const auto g = graph_of(air(inputs, "%0", ""));
  const Status status = bind_input_shapes(*g, shapes, "--input_shape");
  EXPECT_FALSE(status.ok());
  return status.ok() ? Diagnostic{} : status.diagnostic();
}

std::string bound(std::string_view inputs, const Shapes& shapes) {
  const auto g = graph_of(air(inputs, "%0", ""));
  const Status status = bind_input_shapes(*g, shapes, "input_shape");
  EXPECT_TRUE(status.ok()) << status.to_string();
  std::string out;
  for (const ir::Value* v : g->inputs()) out += v->name() + ":" + ir::to_string(v->type) + ";";
  return out;
}

TEST(BindShapes, BindsOpenDims) {
  EXPECT_EQ(bound("%0 \"x\": f32[n,3,h,w]", {{"x", {4, 3, 8, 9}}}), "x:f32[4,3,8,9];");
  EXPECT_EQ(bound("%0 \"x\": f32[2,3]", {}), "x:f32[2,3];");
  EXPECT_EQ(bound("%0 \"s\": f32[]", {{"s", {}}}), "s:f32[];");
}

TEST(BindShapes, SharedSymbolsBindTogether) {
  EXPECT_EQ(bound("%0 \"x\": f32[n,3], %1 \"y\": i64[n,n]", {{"y", {5, 5}}}), "x:f32[5,3];y:i64[5,5];");
}

TEST(BindShapes, UnknownRankTakesTheGivenOne) {
  EXPECT_EQ(bound("%0 \"x\": f32[*]", {{"x", {2, 7}}}), "x:f32[2,7];");
}

TEST(BindShapes, ConflictOnASharedSymbolNamesBothInputs) {
  const auto d = refused("%0 \"a\": f32[n,3], %1 \"b\": f32[n]", {{"a", {2, 3}}, {"b", {4}}});
  EXPECT_EQ(d.code, "E10001");
  EXPECT_THAT(d.message, HasSubstr("axis 0 of input 'b' and axis 0 of input 'a' are the same dim 'n'"));
  EXPECT_THAT(d.message, HasSubstr("gives 4 and 2"));
}

TEST(BindShapes, InputsBeyondAnyMemoryAreRefused) {
  for (const char* dims : {"1099511627776,1099511627776", "1125899906842625", "9223372036854775807,2"}) {
    const auto d = refused("%0 \"x\": f32[" + std::string(dims) + "]", {});
    EXPECT_EQ(d.code, "E10013");
    EXPECT_THAT(d.message, HasSubstr(dims));
  }
  EXPECT_EQ(refused("%0 \"x\": f32[n,1099511627776]", {{"x", {1099511627776, 1099511627776}}}).code,
            "E10013");
  EXPECT_EQ(bound("%0 \"x\": f32[9223372036854775807,0]", {}), "x:f32[9223372036854775807,0];");
}

TEST(BindShapes, UnknownInputListsTheModelsInputs) {
  const auto d = refused("%0 \"image\": f32[1], %1 \"mask\": f32[1]", {{"imagge", {1}}});
  EXPECT_EQ(d.code, "E10016");
  EXPECT_THAT(d.message, HasSubstr("image, mask"));
  EXPECT_THAT(d.message, HasSubstr("did you mean image?"));
}

TEST(BindShapes, AValueThatIsNoInput) {
  const auto g = graph_of(air("%0 \"x\": f32[1]", "%1", "  %1 \"y\" = Relu@14(%0) : f32[1]\n"));
  const Status status = bind_input_shapes(*g, {{"y", {1}}}, "input_shape");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.diagnostic().code, "E10017");
}

TEST(BindShapes, RankMismatch) {
  const auto d = refused("%0 \"x\": f32[n,3,8,8]", {{"x", {1, 3, 8}}});
  EXPECT_EQ(d.code, "E10049");
  EXPECT_THAT(d.message, HasSubstr("has 4 dims in the model ([n,3,8,8]), --input_shape gives 3 ([1,3,8])"));
}

TEST(BindShapes, FixedDimGivenAnotherValue) {
  const auto d = refused("%0 \"x\": f32[n,3]", {{"x", {1, 4}}});
  EXPECT_EQ(d.code, "E10001");
  EXPECT_THAT(d.message, HasSubstr("axis 1 of input 'x' is 3 in the model, --input_shape gives 4"));
}

TEST(BindShapes, DimsArePositive) {
  EXPECT_EQ(refused("%0 \"x\": f32[n]", {{"x", {0}}}).code, "E10011");
  EXPECT_EQ(refused("%0 \"x\": f32[n]", {{"x", {-2}}}).code, "E10011");
}

TEST(BindShapes, OpenDimsAreNamedWithTheOptionToGive) {
  const auto d =
      refused("%0 \"x\": f32[1,3,h,w], %1 \"k\": f32[2], %2 \"y\": i64[n]", {{"x", {1, 3, -1, 7}}});
  EXPECT_EQ(d.code, "E10001");
  EXPECT_THAT(d.message, HasSubstr("input 'x' is open in axis 2 ('h') of [1,3,h,7]"));
  EXPECT_THAT(d.solution, HasSubstr("--input_shape=\"x:1,3,-1,7;y:-1\""));
  EXPECT_THAT(refused("%0 \"x\": f32[*]", {}).message, HasSubstr("no known rank"));
}

}  // namespace
}  // namespace atc::passes
