#include "passes/decompose_einsum.h"

#include "pass_testing.h"
#include "passes/attention_fusion.h"
#include "passes/decompose.h"

namespace atc::passes {
namespace {

TEST(DecomposeEinsum, ScoresOfHeadsInTheMiddleAreATransposedProduct) {
  expect_rewrite(
      decompose_pass(),
      air("%0 \"q\": f32[2,5,3,8], %1 \"k\": f32[2,6,3,8]", "%2",
          "  %2 \"y\" = Einsum@12(%0, %1) {equation=\"bqhd,bkhd->bhqk\"} : f32[2,3,5,6] name \"e\" from "
          "\"e\"\n"),
      air("%0 \"q\": f32[2,5,3,8], %1 \"k\": f32[2,6,3,8]", "%5",
          "  %3 = Transpose@17(%0) {perm=[0,2,1,3]} : f32[2,3,5,8] name \"e/step1_left_order\" from \"e\"\n"
          "  %4 = Transpose@17(%1) {perm=[0,2,3,1]} : f32[2,3,8,6] name \"e/step1_right_order\" from \"e\"\n"
          "  %5 \"y\" = MatMul@17(%3, %4) : f32[2,3,5,6] name \"e/step1_product\" from \"e\"\n"));
}

TEST(DecomposeEinsum, AttentionWrittenInEquationsIsFused) {
  const std::string products = run_pass(
      decompose_pass(),
      air("%0 \"q\": f32[2,5,3,8], %1 \"k\": f32[2,6,3,8], %2 \"v\": f32[2,6,3,4]", "%7",
          "  %3 \"c\" = const f32[] {0.25}\n"
          "  %4 = Einsum@12(%0, %1) {equation=\"bqhd,bkhd->bhqk\"} : f32[2,3,5,6] name \"a\" from \"a\"\n"
          "  %5 = Mul@14(%4, %3) : f32[2,3,5,6]\n"
          "  %6 = Softmax@13(%5) : f32[2,3,5,6]\n"
          "  %7 \"y\" = Einsum@12(%6, %2) {equation=\"bhqk,bkhd->bqhd\"} : f32[2,5,3,4] name \"b\" from "
          "\"b\"\n"));
  EXPECT_THAT(run_pass(attention_fusion_pass(), products), testing::HasSubstr("atc::Attention"));
}

TEST(DecomposeEinsum, AProductWithoutRowsAndColumnsIsASumOfProducts) {
  const std::string after = run_pass(
      decompose_pass(),
      air("%0 \"a\": f32[5,7], %1 \"b\": f32[5,7]", "%2",
          "  %2 \"y\" = Einsum@12(%0, %1) {equation=\"bc,bc->b\"} : f32[5] name \"e\" from \"e\"\n"));
  EXPECT_THAT(after, testing::HasSubstr("Mul@17(%0, %1) : f32[5,7]"));
  EXPECT_THAT(after, testing::ContainsRegex("ReduceSum@17.*f32\\[5,1\\]"));
}

TEST(DecomposeEinsum, SumsOverAxesThatAreNotNeighboursAreSplit) {
  const std::string after =
      run_pass(decompose_pass(),
               air("%0 \"a\": f32[5,7,3]", "%1",
                   "  %1 \"y\" = Einsum@12(%0) {equation=\"ijk->j\"} : f32[7] name \"e\" from \"e\"\n"));
  EXPECT_THAT(after, testing::ContainsRegex("ReduceSum@17.*f32\\[5,7,1\\]"));
  EXPECT_THAT(after, testing::ContainsRegex("ReduceSum@17.*f32\\[1,7,1\\]"));
}

TEST(DecomposeEinsum, AnEquationThatChangesNothing) {
  expect_rewrite(decompose_pass(),
                 air("%0 \"a\": f32[5,7]", "%1",
                     "  %1 \"y\" = Einsum@12(%0) {equation=\"ij->ij\"} : f32[5,7] name \"e\" from \"e\"\n"),
                 air("%0 \"a\": f32[5,7]", "%2",
                     "  %2 \"y\" = Identity@17(%0) : f32[5,7] name \"e/output\" from \"e\"\n"));
}

TEST(DecomposeEinsum, IntegersAndTensorsWithoutElementsStay) {
  for (const char* type : {"i32[3,4]", "f64[3,4]", "f32[0,4]"}) {
    const std::string element(type, 3);
    const std::string n = std::string(type).substr(4, 1);
    expect_unchanged(decompose_pass(), air(std::string("%0 \"a\": ") + type, "%1",
                                           "  %1 \"y\" = Einsum@12(%0) {equation=\"ij->i\"} : " + element +
                                               "[" + n + "] name \"e\" from \"e\"\n"));
  }
}

}  // namespace
}  // namespace atc::passes
