#include "passes/program_motion.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

const std::string kWindow =
    "  %1 = atc::MaxPool(%0) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[1,4,6]) -> (%0) {\n  }} : "
    "f32[1,4,6]\n";

/// id = a program of Sigmoid and Exp on `shape`.
std::string program(const std::string& id, const std::string& operand, const std::string& shape) {
  return "  %" + id + " = atc::Fused(" + operand + ") {body=graph \"body\"(%0: " + shape +
         ") -> (%2) {\n    %1 = Sigmoid@13(%0) : " + shape + "\n    %2 = Exp@13(%1) : " + shape +
         "\n  }} : " + shape + "\n";
}

TEST(ProgramMotion, BeforeReshapeAndTranspose) {
  const auto graph = graph_of(
      run_pass(program_motion_pass(), air("%0 \"x\": f32[1,4,6]", "%5",
                                          kWindow +
                                              "  %2 = const i64[3] {2,2,6}\n"
                                              "  %3 = Reshape@13(%1, %2) : f32[2,2,6]\n"
                                              "  %4 = Transpose@13(%3) {perm=[2,0,1]} : f32[6,2,2]\n" +
                                              program("5 \"y\"", "%4", "f32[6,2,2]"))));
  std::vector<std::string> order;
  for (const auto& n : graph->nodes()) order.push_back(n->op_type + " " + to_string(n->output(0)->type));
  EXPECT_THAT(order, testing::ElementsAre("MaxPool f32[1,4,6]", "Fused f32[1,4,6]", "Reshape f32[2,2,6]",
                                          "Transpose f32[6,2,2]"));
  EXPECT_EQ(graph->outputs()[0]->name(), "y");
  EXPECT_EQ(graph->outputs()[0]->producer()->op_type, "Transpose");
  for (const auto& n : graph->nodes()) {
    if (!n->is_internal("Fused")) continue;
    EXPECT_EQ(to_string(n->attrs.get_graph("body")->outputs()[0]->type), "f32[1,4,6]");
  }
}

TEST(ProgramMotion, NotWhereOthersReadOrNothingIsComputed) {
  const std::string transpose = "  %2 = Transpose@13(%1) {perm=[2,0,1]} : f32[6,1,4]\n";
  const std::string body = program("3", "%2", "f32[6,1,4]");
  // The view, or what it shows, is an output; elements are no result of a window.
  expect_unchanged(program_motion_pass(), air("%0 \"x\": f32[1,4,6]", "%3, %2", kWindow + transpose + body));
  expect_unchanged(program_motion_pass(), air("%0 \"x\": f32[1,4,6]", "%3, %1", kWindow + transpose + body));
  expect_unchanged(program_motion_pass(),
                   air("%0 \"x\": f32[1,4,6]", "%3", "  %1 = Neg@13(%0) : f32[1,4,6]\n" + transpose + body));
  // No view between them: epilogue fusion's.
  expect_unchanged(program_motion_pass(),
                   air("%0 \"x\": f32[1,4,6]", "%3", kWindow + program("3", "%1", "f32[1,4,6]")));
}

TEST(ProgramMotion, NotWithAnotherOperand) {
  const std::string shape = "f32[6,1,4]";
  expect_unchanged(program_motion_pass(),
                   air("%0 \"x\": f32[1,4,6], %9 \"z\": f32[6,1,4]", "%3",
                       kWindow + "  %2 = Transpose@13(%1) {perm=[2,0,1]} : f32[6,1,4]\n" +
                           "  %3 = atc::Fused(%2, %9) {body=graph \"body\"(%0: " + shape + ", %1: " + shape +
                           ") -> (%2) {\n    %2 = Add@14(%0, %1) : " + shape + "\n  }} : " + shape + "\n"));
}

}  // namespace
}  // namespace atc::passes
