#include "passes/reachability.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

const std::vector<ir::Node*>* alone(const ir::Node*) { return nullptr; }

TEST(Reachability, FollowsDataBackwards) {
  const auto graph = graph_of(air("%0 \"x\": f32[2]", "%3, %4",
                                  "  %1 = Relu@14(%0) : f32[2]\n"
                                  "  %2 = Tanh@13(%1) : f32[2]\n"
                                  "  %3 = Exp@13(%2) : f32[2]\n"
                                  "  %4 = Abs@13(%0) : f32[2]\n"));
  const NodeOrder order(*graph);
  const auto n = graph->node_list();
  EXPECT_EQ(order.of(n[2]), 2);
  EXPECT_TRUE(order.reaches({n[2]}, {n[0]}, alone));
  EXPECT_TRUE(order.reaches({n[1]}, {n[1]}, alone));
  EXPECT_FALSE(order.reaches({n[3]}, {n[0]}, alone));
  EXPECT_FALSE(order.reaches({n[0]}, {n[2]}, alone));
  EXPECT_FALSE(order.reaches({}, {n[0]}, alone));
}

TEST(Reachability, AGroupReachesAsOne) {
  // b depends on nothing of interest, but it is one with c, which depends on a.
  const auto graph = graph_of(air("%0 \"x\": f32[2]", "%2, %3, %4",
                                  "  %1 = Relu@14(%0) : f32[2]\n"
                                  "  %2 = Tanh@13(%0) : f32[2]\n"
                                  "  %3 = Exp@13(%1) : f32[2]\n"
                                  "  %4 = Abs@13(%2) : f32[2]\n"));
  const NodeOrder order(*graph);
  const auto n = graph->node_list();
  const std::vector<ir::Node*> group = {n[1], n[2]};
  EXPECT_FALSE(order.reaches({n[3]}, {n[0]}, alone));
  EXPECT_TRUE(order.reaches(
      {n[3]}, {n[0]}, [&](const ir::Node* node) { return node == n[1] || node == n[2] ? &group : nullptr; }));
}

TEST(Reachability, NestedGraphsReadForTheirNode) {
  const auto graph = graph_of(
      air("%0 \"c\": bool[], %1 \"x\": f32[2]", "%3",
          "  %2 = Relu@14(%1) : f32[2]\n"
          "  %3 = If@13(%0) {else_branch=graph \"e\"() -> (^%1) {\n  }, then_branch=graph \"t\"() -> (%0) {\n"
          "    %0 = Tanh@13(^%2) : f32[2]\n  }} : f32[2]\n"));
  const NodeOrder order(*graph);
  const auto n = graph->node_list();
  EXPECT_THAT(order.inputs_of(n[1]), testing::ElementsAre(n[0]));
  EXPECT_TRUE(order.reaches({n[1]}, {n[0]}, alone));
}

}  // namespace
}  // namespace atc::passes
