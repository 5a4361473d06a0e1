#include "passes/swiglu_fusion.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

std::string gated(const std::string& parts, const std::string& outputs = "%9") {
  return air("%0 \"x\": f32[5,8], %1 \"z\": f32[5,4]", outputs,
             parts +
                 "  %6 = Sigmoid@13(%3) : f32[5,4]\n"
                 "  %7 = Mul@14(%6, %3) : f32[5,4]\n"
                 "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n");
}
const std::string kSplit = "  %3, %4 = Split@11(%0) {axis=1, split=[4,4]} : f32[5,4], f32[5,4]\n";

TEST(SwigluFusion, ReadsBothHalvesInPlace) {
  const std::string after = run_pass(swiglu_fusion_pass(), gated(kSplit));
  EXPECT_THAT(after, testing::HasSubstr("atc::Fused(%0, %0)"));
  EXPECT_THAT(after, testing::HasSubstr("label=\"SwiGlu\""));
  EXPECT_THAT(after, testing::HasSubstr("views=[0,8,1,4,8,1,0,4,1]"));
  EXPECT_THAT(after, testing::Not(testing::HasSubstr("Split")));
}

TEST(SwigluFusion, JoinsTwoProductsOfOneValue) {
  const std::string after = run_pass(swiglu_fusion_pass(), gated("  %2 \"a\" = const f32[8,4] splat 1.0\n"
                                                                 "  %5 \"b\" = const f32[8,4] splat 2.0\n"
                                                                 "  %3 = MatMul@13(%0, %2) : f32[5,4]\n"
                                                                 "  %4 = MatMul@13(%0, %5) : f32[5,4]\n"));
  EXPECT_THAT(after, testing::HasSubstr("atc::Fused(%3, %4)"));
}

TEST(SwigluFusion, LeavesOtherFormsAlone) {
  // Two unrelated values: the vector program that they become anyway is as good.
  expect_unchanged(swiglu_fusion_pass(), air("%3 \"x\": f32[5,4], %4 \"z\": f32[5,4]", "%9",
                                             "  %6 = Sigmoid@13(%3) : f32[5,4]\n"
                                             "  %7 = Mul@14(%6, %3) : f32[5,4]\n"
                                             "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n"));
  // The model returns the gate.
  expect_unchanged(swiglu_fusion_pass(), gated(kSplit, "%9, %7"));
}

}  // namespace
}  // namespace atc::passes
