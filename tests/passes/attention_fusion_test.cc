#include "passes/attention_fusion.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

std::string attention(const std::string& scores, const std::string& outputs = "%9") {
  return air("%0 \"q\": f32[2,6,16], %1 \"k\": f32[2,16,6], %2 \"v\": f32[2,6,8], %3 \"m\": f32[6,6]",
             outputs,
             "  %4 \"c\" = const f32[] {0.25}\n" + scores +
                 "  %9 \"y\" = MatMul@13(%8, %2) : f32[2,6,8] name \"pv\" from \"pv\"\n");
}

TEST(AttentionFusion, TakesScaleAndMask) {
  const std::string after = run_pass(
      attention_fusion_pass(), attention("  %5 = MatMul@13(%0, %1) : f32[2,6,6] name \"qk\" from \"qk\"\n"
                                         "  %6 = Mul@14(%4, %5) : f32[2,6,6]\n"
                                         "  %7 = Add@14(%3, %6) : f32[2,6,6]\n"
                                         "  %8 = Softmax@13(%7) : f32[2,6,6]\n"));
  // Batch 1, two heads, keys stored [d][position].
  EXPECT_THAT(after, testing::HasSubstr("atc::Attention(%0, %3, %1, %2)"));
  EXPECT_THAT(after, testing::HasSubstr("k_transposed=1"));
  EXPECT_THAT(after, testing::HasSubstr("scale=0.25"));
  EXPECT_THAT(after, testing::HasSubstr("sizes=[1,2,2,6,16,8]"));
  EXPECT_THAT(after, testing::HasSubstr("mask_view=[0,0,0,6,1]"));
  EXPECT_THAT(after, testing::HasSubstr("from \"qk\", \"pv\""));
  EXPECT_THAT(after, testing::Not(testing::HasSubstr("Softmax")));
}

TEST(AttentionFusion, LeavesOtherFormsAlone) {
  const std::string product = "  %5 = MatMul@13(%0, %1) : f32[2,6,6]\n";
  // A scale outside the mask scales the mask as well.
  expect_unchanged(attention_fusion_pass(), attention(product + "  %6 = Add@14(%5, %3) : f32[2,6,6]\n"
                                                                "  %7 = Mul@14(%6, %4) : f32[2,6,6]\n"
                                                                "  %8 = Softmax@13(%7) : f32[2,6,6]\n"));
  // Along the rows.
  expect_unchanged(attention_fusion_pass(),
                   attention(product + "  %8 = Softmax@13(%5) {axis=1} : f32[2,6,6]\n"));
  // The model returns the weights.
  expect_unchanged(attention_fusion_pass(),
                   attention(product + "  %8 = Softmax@13(%5) : f32[2,6,6]\n", "%9, %8"));
  // No scores of a product.
  expect_unchanged(attention_fusion_pass(), attention("  %8 = Softmax@13(%3) : f32[6,6]\n"));
}

}  // namespace
}  // namespace atc::passes
