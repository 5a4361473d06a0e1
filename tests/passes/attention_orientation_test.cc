#include "passes/attention_orientation.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

std::string columns(const std::string& softmax, const std::string& outputs) {
  return air("%0 \"q\": f32[2,6,8], %1 \"k\": f32[2,8,6], %2 \"v\": f32[2,4,6]", outputs,
             "  %3 \"c\" = const f32[] {0.5}\n"
             "  %4 = MatMul@13(%0, %1) : f32[2,6,6]\n"
             "  %5 = Mul@14(%4, %3) : f32[2,6,6]\n"
             "  %6 = Softmax@13(%5) " +
                 softmax +
                 ": f32[2,6,6]\n"
                 "  %7 = Transpose@13(%6) {perm=[0,2,1]} : f32[2,6,6]\n"
                 "  %8 \"y\" = MatMul@13(%2, %7) : f32[2,4,6]\n");
}

int changes_of(const std::string& text) {
  int changes = -1;
  run_pass(attention_orientation_pass(), text, &changes);
  return changes;
}

TEST(AttentionOrientation, TurnsTheProduct) {
  const std::string after = run_pass(attention_orientation_pass(), columns("", "%8"));
  EXPECT_THAT(after, testing::HasSubstr("Transpose@17(%2) {perm=[0,2,1]} : f32[2,6,4]"));
  EXPECT_THAT(after, testing::HasSubstr("MatMul@17(%6, "));
  EXPECT_THAT(after, testing::Not(testing::HasSubstr("Transpose@13(%6)")));
}

TEST(AttentionOrientation, LeavesOtherFormsAlone) {
  EXPECT_EQ(changes_of(columns("", "%8, %6")), 0);       // the weights are an output
  EXPECT_EQ(changes_of(columns("{axis=1} ", "%8")), 0);  // along columns
  EXPECT_EQ(changes_of(columns("", "%8, %4")), 0);       // the scores are an output
}

}  // namespace
}  // namespace atc::passes
