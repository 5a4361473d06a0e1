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

TEST(SwigluFusion, OtherGatesFeedAProduct) {
  const auto gated_by = [](const std::string& gate, const std::string& last) {
    return air("%0 \"x\": f32[5,3]", "%9",
               "  %1 \"w\" = const f32[3,8] splat 1.0\n"
               "  %8 \"d\" = const f32[4,2] splat 1.0\n"
               "  %2 = MatMul@13(%0, %1) : f32[5,8]\n"
               "  %3, %4 = Split@11(%2) {axis=1, split=[4,4]} : f32[5,4], f32[5,4]\n"
               "  %5 = " +
                   gate +
                   "(%3) : f32[5,4]\n"
                   "  %6 = Mul@14(%5, %4) : f32[5,4]\n" +
                   last);
  };
  const std::string product = "  %9 \"y\" = MatMul@13(%6, %8) : f32[5,2]\n";
  for (const auto& [gate, label] : {std::pair{"Gelu@20", "GeGlu"}, std::pair{"Relu@14", "ReGlu"},
                                    std::pair{"Sigmoid@13", "Glu"}, std::pair{"Swish@24", "SwiGlu"}})
    EXPECT_THAT(run_pass(swiglu_fusion_pass(), gated_by(gate, product)),
                testing::HasSubstr("label=\"" + std::string(label) + "\""));
  const std::string sum = "  %9 \"y\" = Add@14(%6, %6) : f32[5,4]\n";
  for (const std::string& text : {gated_by("Tanh@13", product), gated_by("Relu@14", sum)}) {
    int changes = -1;
    run_pass(swiglu_fusion_pass(), text, &changes);
    EXPECT_EQ(changes, 0) << text;
  }
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
