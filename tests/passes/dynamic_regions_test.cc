#include "passes/dynamic_regions.h"

#include "pass_testing.h"
#include "passes/extract.h"

namespace atc::passes {
namespace {

TEST(DynamicRegions, NodesOfOpenShapesBecomeOneRegion) {
  expect_rewrite(dynamic_regions_pass(),
                 air("%0 \"x\": f32[8]", "%3, %4",
                     "  %1 \"i\" = NonZero@13(%0) : i64[1,n] name \"a\" from \"a\"\n"
                     "  %2 \"n\" = Cast@13(%1) {to=1} : f32[1,n] name \"b\" from \"b\"\n"
                     "  %3 \"s\" = ReduceSum@13(%2) {keepdims=0} : f32[] name \"c\" from \"c\"\n"
                     "  %4 \"y\" = Relu@14(%0) : f32[8] name \"d\" from \"d\"\n"),
                 air("%0 \"x\": f32[8]", "%5, %4",
                     "  %4 \"y\" = Relu@14(%0) : f32[8] name \"d\" from \"d\"\n"
                     "  %5 \"s\" = atc::Region(%0) {body=graph \"region\"(%0 \"x\": f32[8]) -> (%3) {\n"
                     "    %1 \"i\" = NonZero@13(%0) : i64[1,n] name \"a\" from \"a\"\n"
                     "    %2 \"n\" = Cast@13(%1) {to=1} : f32[1,n] name \"b\" from \"b\"\n"
                     "    %3 \"s\" = ReduceSum@13(%2) {keepdims=0} : f32[] name \"c\" from \"c\"\n"
                     "  }} : f32[] name \"a\" from \"a\", \"b\", \"c\"\n"));
}

TEST(DynamicRegions, AStaticNodeBetweenThemSeparates) {
  const std::string text =
      run_pass(dynamic_regions_pass(), air("%0 \"x\": f32[8]", "%6",
                                           "  %1 \"i\" = NonZero@13(%0) : i64[1,n]\n"
                                           "  %2 \"f\" = Cast@13(%1) {to=1} : f32[1,n]\n"
                                           "  %3 \"s\" = ReduceSum@13(%2) {keepdims=0} : f32[]\n"
                                           "  %4 \"t\" = Exp@13(%3) : f32[]\n"
                                           "  %5 \"m\" = Mul@14(%0, %4) : f32[8]\n"
                                           "  %6 \"y\" = NonZero@13(%5) : i64[1,m]\n"));
  const auto graph = graph_of(text);
  std::vector<std::string> types;
  for (const auto& n : graph->nodes()) types.push_back(n->op_type);
  EXPECT_THAT(types, testing::ElementsAre("Region", "Exp", "Mul", "Region"));
}

TEST(DynamicRegions, ControlFlowBringsItsOuterValuesAlong) {
  const std::string text =
      run_pass(dynamic_regions_pass(), air("%0 \"x\": f32[4], %1 \"c\": bool[]", "%4",
                                           "  %2 \"k\" = const f32[1000] splat 0.5\n"
                                           "  %3 \"r\" = Relu@14(%0) : f32[4]\n"
                                           "  %4 \"y\" = If@16(%1) {else_branch=graph \"e\"() -> (%0) {\n"
                                           "    %0 = ReduceSum@13(^%2) {keepdims=1} : f32[1]\n"
                                           "  }, then_branch=graph \"t\"() -> (%0) {\n"
                                           "    %0 = Slice@1(^%3) {axes=[0], ends=[1], starts=[0]} : f32[1]\n"
                                           "  }} : f32[1]\n"));
  // A constant of 4000 bytes stays outside, a value of the main graph becomes an input.
  EXPECT_THAT(text, testing::HasSubstr("atc::Region(%1, %2, %3)"));
  EXPECT_THAT(text, testing::HasSubstr("ReduceSum@13(^%2)"));
  const auto graph = graph_of(text);
  EXPECT_TRUE(outer_values(*graph->outputs()[0]->producer()->attrs.get_graph("body")).empty());
}

// A branch's weights go to WEIGHTS_DATA too.
TEST(DynamicRegions, LargeConstantsOfNestedGraphsBecomeInputs) {
  const std::string text =
      run_pass(dynamic_regions_pass(), air("%0 \"x\": f32[1,4], %1 \"c\": bool[]", "%4",
                                           "  %4 \"y\" = If@16(%1) {else_branch=graph \"e\"() -> (%1) {\n"
                                           "    %0 \"w\" = const f32[4,400] splat 0.5\n"
                                           "    %1 = MatMul@13(^%0, %0) : f32[1,400]\n"
                                           "  }, then_branch=graph \"t\"() -> (%1) {\n"
                                           "    %0 \"few\" = const f32[4,400] splat 1.0\n"
                                           "    %1 = MatMul@13(^%0, %0) : f32[1,400]\n"
                                           "  }} : f32[1,400]\n"));
  const auto graph = graph_of(text);
  const ir::Node& region = *graph->outputs()[0]->producer();
  int weights = 0;
  for (const ir::Value* v : region.inputs()) weights += v->is_constant() ? 1 : 0;
  EXPECT_EQ(weights, 2);
  const auto body = region.attrs.get_graph("body");
  for (const auto& branch : ir::subgraphs(*body->nodes().front())) {
    EXPECT_EQ(ir::verify(*body), "");
    for (const ir::Value* v : branch->values()) EXPECT_FALSE(v->is_constant() && branch->is_used(v));
  }
}

TEST(DynamicRegions, AStaticGraphStays) {
  expect_unchanged(dynamic_regions_pass(),
                   air("%0 \"x\": f32[4]", "%1", "  %1 \"y\" = Relu@14(%0) : f32[4]\n"));
}

TEST(Extract, ReturnedOuterValuesAreInputs) {
  const auto graph = graph_of(air("%0 \"x\": f32[4], %1 \"c\": bool[]", "%2",
                                  "  %2 \"y\" = If@16(%1) {else_branch=graph \"e\"() -> (^%0) {\n"
                                  "  }, then_branch=graph \"t\"() -> (%0) {\n"
                                  "    %0 = Relu@14(^%0) : f32[4]\n"
                                  "  }} : f32[4]\n"));
  const auto branch = graph->nodes().front()->attrs.get_graph("else_branch");
  const Extracted copy = stand_alone(*branch);
  EXPECT_THAT(copy.inputs, testing::ElementsAre(graph->inputs()[0]));
  ASSERT_EQ(copy.graph->inputs().size(), 1u);
  EXPECT_EQ(copy.graph->outputs()[0], copy.graph->inputs()[0]);
  EXPECT_EQ(ir::verify(*copy.graph), "");
}

}  // namespace
}  // namespace atc::passes
