#include "passes/rope_fusion.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

// x * cos + r * sin, r made of x's halves by `rotated`.
std::string rope(const std::string& rotated, const std::string& outputs = "%9") {
  return air("%0 \"x\": f32[2,6,8], %1 \"cos\": f32[6,8], %2 \"sin\": f32[6,8]", outputs,
             "  %3, %4 = Split@11(%0) {axis=-1, split=[4,4]} : f32[2,6,4], f32[2,6,4]\n" + rotated +
                 "  %7 = Mul@14(%0, %1) : f32[2,6,8] name \"c\" from \"c\"\n"
                 "  %8 = Mul@14(%6, %2) : f32[2,6,8] name \"s\" from \"s\"\n"
                 "  %9 \"y\" = Add@14(%7, %8) : f32[2,6,8] name \"y\" from \"y\"\n");
}

TEST(RopeFusion, ReadsTheSwappedHalvesThroughAView) {
  const std::string after =
      run_pass(rope_fusion_pass(), rope("  %5 = Neg@13(%4) : f32[2,6,4]\n"
                                        "  %6 = Concat@13(%5, %3) {axis=-1} : f32[2,6,8]\n"));
  EXPECT_THAT(after, testing::HasSubstr("label=\"RotaryPositionEmbedding\""));
  EXPECT_THAT(after, testing::HasSubstr("atc::Fused(%0, %0, %1, %2, "));
  EXPECT_THAT(after, testing::HasSubstr("space=[2,6,2,4]"));
  // x as it is, x with its halves swapped, the tables broadcast over the batch, the sign of each half, the
  // result.
  EXPECT_THAT(after,
              testing::HasSubstr("views=[0,48,8,4,1,4,48,8,-4,1,0,0,8,4,1,0,0,8,4,1,0,0,0,1,0,0,48,8,4,1]"));
  EXPECT_THAT(after, testing::HasSubstr("f32[2,1] {-1.0,1.0}"));
  EXPECT_THAT(after, testing::Not(testing::HasSubstr("Concat")));
}

TEST(RopeFusion, LeavesOtherFormsAlone) {
  // The wrong half is negative: another rotation.
  expect_unchanged(rope_fusion_pass(), rope("  %5 = Neg@13(%3) : f32[2,6,4]\n"
                                            "  %6 = Concat@13(%4, %5) {axis=-1} : f32[2,6,8]\n"));
  // Nothing is negative.
  expect_unchanged(rope_fusion_pass(), rope("  %6 = Concat@13(%4, %3) {axis=-1} : f32[2,6,8]\n"));
  // The model returns the rotated value.
  expect_unchanged(rope_fusion_pass(), rope("  %5 = Neg@13(%4) : f32[2,6,4]\n"
                                            "  %6 = Concat@13(%5, %3) {axis=-1} : f32[2,6,8]\n",
                                            "%9, %6"));
}

}  // namespace
}  // namespace atc::passes
