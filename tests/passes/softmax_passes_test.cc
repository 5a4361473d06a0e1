// softmax-fusion, masked-softmax-fusion and softmax-pooling; their forms with values are in
// tests/runtime/softmax_forms_test.cc.
#include "pass_testing.h"
#include "passes/masked_softmax_fusion.h"
#include "passes/softmax_fusion.h"
#include "passes/softmax_pooling.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;
using testing::Not;

int changes_of(const Pass& pass, const std::string& text) {
  int changes = -1;
  run_pass(pass, text, &changes);
  return changes;
}

std::string written(const std::string& sum_axes, const std::string& outputs) {
  return air("%0 \"x\": f32[4,4]", outputs,
             "  %1 = ReduceMax@13(%0) {axes=[-1]} : f32[4,1]\n"
             "  %2 = Sub@14(%0, %1) : f32[4,4]\n"
             "  %3 = Exp@13(%2) : f32[4,4]\n"
             "  %4 = ReduceSum@11(%3) {axes=" +
                 sum_axes +
                 "} : f32[4,1]\n"
                 "  %5 \"y\" = Div@14(%3, %4) : f32[4,4]\n");
}

TEST(SoftmaxFusion, MakesTheOperator) {
  expect_rewrite(softmax_fusion_pass(), written("[-1]", "%5"),
                 air("%0 \"x\": f32[4,4]", "%6",
                     "  %6 \"y\" = Softmax@13(%0) {axis=1} : f32[4,4] name \"SoftmaxV2\"\n"));
}

TEST(SoftmaxFusion, LeavesOtherFormsAlone) {
  for (const char* outputs : {"%5, %3", "%5, %4"})
    EXPECT_EQ(changes_of(softmax_fusion_pass(), written("[-1]", outputs)), 0) << outputs;
  EXPECT_EQ(changes_of(softmax_fusion_pass(), written("[0,1]", "%5")), 0);
}

std::string masked(const std::string& body, const std::string& outputs = "%9") {
  return air("%0 \"x\": f32[2,4,6], %1 \"m\": f32[4,6], %2 \"k\": bool[4,6]", outputs,
             "  %3 \"c\" = const f32[] {0.25}\n"
             "  %4 \"f\" = const f32[] {-1000.0}\n" +
                 body);
}
const std::string kScaled = "  %5 = Mul@14(%3, %0) : f32[2,4,6]\n";

TEST(MaskedSoftmaxFusion, TakesInScaleAndMask) {
  const Pass pass = masked_softmax_fusion_pass();
  EXPECT_THAT(run_pass(pass, masked(kScaled + "  %6 = Add@14(%1, %5) : f32[2,4,6]\n"
                                              "  %9 \"y\" = Softmax@13(%6) : f32[2,4,6]\n")),
              HasSubstr("atc::ScaledMaskedSoftmax(%0, %1) {axis=2, mask_kind=\"add\", scale=0.25}"));
  EXPECT_THAT(
      run_pass(pass, masked(kScaled + "  %6 = Where@9(%2, %5, %4) : f32[2,4,6]\n"
                                      "  %9 \"y\" = Softmax@13(%6) {axis=1} : f32[2,4,6]\n")),
      HasSubstr("atc::ScaledMaskedSoftmax(%0, %2) {axis=1, fill=-1000.0, mask_kind=\"keep\", scale=0.25}"));
  EXPECT_THAT(
      run_pass(pass, masked("  %6 = Where@9(%2, %4, %0) : f32[2,4,6]\n"
                            "  %9 \"y\" = Softmax@11(%6) {axis=2} : f32[2,4,6]\n")),
      HasSubstr("atc::ScaledMaskedSoftmax(%0, %2) {axis=2, fill=-1000.0, mask_kind=\"drop\", scale=1.0}"));
}

TEST(MaskedSoftmaxFusion, LeavesOtherFormsAlone) {
  const Pass pass = masked_softmax_fusion_pass();
  // Others read the scaled values; several axes are one distribution; nothing to take in.
  EXPECT_EQ(changes_of(pass, masked(kScaled + "  %9 \"y\" = Softmax@13(%5) : f32[2,4,6]\n", "%9, %5")), 0);
  EXPECT_EQ(changes_of(pass, masked(kScaled + "  %9 \"y\" = Softmax@11(%5) {axis=1} : f32[2,4,6]\n")), 0);
  EXPECT_EQ(changes_of(pass, masked("  %9 \"y\" = Softmax@13(%0) : f32[2,4,6]\n")), 0);
  // The mask is larger than what it masks.
  EXPECT_EQ(changes_of(pass, masked("  %6 = Add@14(%1, %0) : f32[2,4,6]\n"
                                    "  %7 = Tanh@13(%6) : f32[2,4,6]\n"
                                    "  %9 \"y\" = Softmax@13(%7) : f32[2,4,6]\n")),
            0);
}

std::string pooled(const std::string& body, const std::string& outputs = "%9") {
  return air("%0 \"x\": f32[2,5,7], %1 \"s\": f32[2,5,1]", outputs,
             "  %2 \"row\" = const i64[3] {2,1,5}\n"
             "  %3 \"flat\" = const i64[2] {2,7}\n"
             "  %4 = Softmax@13(%1) {axis=1} : f32[2,5,1]\n" +
                 body);
}

TEST(SoftmaxPooling, MakesOneOperator) {
  const Pass pass = softmax_pooling_pass();
  const std::string sum = run_pass(pass, pooled("  %6 = Mul@14(%4, %0) : f32[2,5,7]\n"
                                                "  %9 \"y\" = ReduceSum@11(%6) {axes=[1]} : f32[2,1,7]\n"));
  EXPECT_THAT(sum, HasSubstr("atc::SoftmaxWeightedSum(%0, %1) {axis=1} : f32[2,1,7]"));
  EXPECT_THAT(sum, Not(HasSubstr("Softmax@")));
  const std::string product = run_pass(pass, pooled("  %5 = Reshape@14(%4, %2) : f32[2,1,5]\n"
                                                    "  %6 = MatMul@13(%5, %0) : f32[2,1,7]\n"
                                                    "  %9 \"y\" = Reshape@14(%6, %3) : f32[2,7]\n"));
  EXPECT_THAT(product, HasSubstr("atc::SoftmaxWeightedSum(%0, %1) {axis=1} : f32[2,1,7]"));
  EXPECT_THAT(product, Not(HasSubstr("MatMul")));
}

// Weights that the model returns, or that others read, are the operator's second output; readers come behind
// it.
TEST(SoftmaxPooling, GivesWeightsThatOthersRead) {
  const Pass pass = softmax_pooling_pass();
  const std::string sum = "  %6 = Mul@14(%4, %0) : f32[2,5,7]\n";
  const std::string last = "  %9 \"y\" = ReduceSum@11(%6) {axes=[1]} : f32[2,1,7]\n";
  const std::string returned = run_pass(pass, pooled(sum + last, "%9, %4"));
  EXPECT_THAT(returned, HasSubstr("= atc::SoftmaxWeightedSum(%0, %1) {axis=1} : f32[2,1,7], f32[2,5,1]"));
  EXPECT_THAT(returned, Not(HasSubstr("Softmax@")));
  const std::string read =
      run_pass(pass, pooled("  %5 \"e\" = Exp@13(%4) : f32[2,5,1]\n" + sum + last, "%9, %5"));
  EXPECT_LT(read.find("SoftmaxWeightedSum"), read.find("Exp@13"));
  // As a row they are shown under their own shape again.
  const std::string product = run_pass(pass, air("%0 \"x\": f32[2,5,7], %1 \"s\": f32[2,1,5]", "%9, %4",
                                                 "  %4 \"w\" = Softmax@13(%1) {axis=2} : f32[2,1,5]\n"
                                                 "  %9 \"y\" = MatMul@13(%4, %0) : f32[2,1,7]\n"));
  EXPECT_THAT(product, HasSubstr("{axis=1} : f32[2,1,7], f32[2,5,1]"));
  EXPECT_THAT(product, HasSubstr("\"w\" = Reshape@14("));
  // The values follow from the weights.
  EXPECT_EQ(changes_of(pass, pooled("  %5 = Add@14(%4, %0) : f32[2,5,7]\n"
                                    "  %6 = Mul@14(%4, %5) : f32[2,5,7]\n" +
                                    last)),
            0);
}

TEST(SoftmaxPooling, LeavesOtherFormsAlone) {
  const Pass pass = softmax_pooling_pass();
  const std::string sum = "  %6 = Mul@14(%4, %0) : f32[2,5,7]\n";
  const std::string last = "  %9 \"y\" = ReduceSum@11(%6) {axes=[1]} : f32[2,1,7]\n";
  EXPECT_EQ(changes_of(pass, pooled(sum + last, "%9, %6")), 0);
  EXPECT_EQ(changes_of(pass, pooled(sum + "  %9 \"y\" = ReduceSum@11(%6) {axes=[2]} : f32[2,5,1]\n")), 0);
  EXPECT_EQ(changes_of(pass, pooled(sum + "  %9 \"y\" = ReduceSum@11(%6) {axes=[1,2]} : f32[2,1,1]\n")), 0);
  EXPECT_EQ(changes_of(pass, pooled(sum + "  %9 \"y\" = ReduceMean@13(%6) {axes=[1]} : f32[2,1,7]\n")), 0);
}

}  // namespace
}  // namespace atc::passes
