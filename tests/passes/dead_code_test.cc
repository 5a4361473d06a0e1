#include "passes/dead_code.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

TEST(DeadCode, RemovesNodesAndConstantsThatNoOutputNeeds) {
  expect_rewrite(dead_code_pass(),
                 air("%0 \"x\": f32[2], %9 \"unused\": f32[1]", "%2",
                     "  %1 \"k\" = const f32[2] {1.0,2.0}\n"
                     "  %2 \"y\" = Relu@14(%0) : f32[2]\n"
                     "  %3 = Add@14(%2, %1) : f32[2]\n"
                     "  %4 = Relu@14(%3) : f32[2]\n"),
                 air("%0 \"x\": f32[2], %9 \"unused\": f32[1]", "%2", "  %2 \"y\" = Relu@14(%0) : f32[2]\n"));
}

TEST(DeadCode, KeepsANodeOfWhichOneOutputIsUsed) {
  expect_unchanged(dead_code_pass(),
                   air("%0 \"x\": f32[4]", "%2", "  %1, %2 = Split@13(%0) {axis=0} : f32[2], f32[2]\n"));
}

}  // namespace
}  // namespace atc::passes
