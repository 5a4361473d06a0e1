#include "passes/view_fusion.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

// i * c over the halves of the rows of %0.
constexpr const char* kProduct =
    " {body=graph \"body\"(%0 \"a\": f32[2,8], %1 \"b\": f32[2,8]) -> (%2) {\n    %2 = Mul@14(%0, %1) : "
    "f32[2,8]\n  "
    "}";

std::string with_views(const std::string& views) {
  return kProduct + std::string(views.empty() ? "" : ", parts=") + views + "} : f32[2,8]\n";
}

TEST(ViewFusion, PartsOfASplitAreReadWhereTheyLie) {
  expect_rewrite(view_fusion_pass(),
                 air("%0 \"x\": f32[2,16]", "%3",
                     "  %1, %2 = Split@11(%0) {axis=-1} : f32[2,8], f32[2,8]\n"
                     "  %3 \"y\" = atc::Fused(%1, %2)" +
                         with_views("")),
                 air("%0 \"x\": f32[2,16]", "%3",
                     "  %1, %2 = Split@11(%0) {axis=-1} : f32[2,8], f32[2,8]\n"
                     "  %3 \"y\" = atc::Fused(%0, %0)" +
                         with_views("[0,2,0,2,8,16,1,1,2,8,2,8,16,1]")));
}

TEST(ViewFusion, ASliceBesideAWholeOperand) {
  expect_rewrite(view_fusion_pass(),
                 air("%0 \"x\": f32[4,8], %1 \"z\": f32[2,8]", "%5",
                     "  %2 = const i64[1] {1}\n  %3 = const i64[1] {3}\n"
                     "  %4 = Slice@13(%0, %2, %3) : f32[2,8]\n  %5 \"y\" = atc::Fused(%4, %1)" +
                         with_views("")),
                 air("%0 \"x\": f32[4,8], %1 \"z\": f32[2,8]", "%5",
                     "  %2 = const i64[1] {1}\n  %3 = const i64[1] {3}\n"
                     "  %4 = Slice@13(%0, %2, %3) : f32[2,8]\n  %5 \"y\" = atc::Fused(%0, %1)" +
                         with_views("[0,2,8,2,8,8,1]")));
}

TEST(ViewFusion, NotWhereTheCopyStays) {
  const std::string split = "  %1, %2 = Split@11(%0) {axis=-1} : f32[2,8], f32[2,8]\n";
  const std::string fused = "  %3 \"y\" = atc::Fused(%1, %1)" + with_views("");
  // The part is an output of the graph, or another kind of node reads it.
  expect_unchanged(view_fusion_pass(), air("%0 \"x\": f32[2,16]", "%3, %1", split + fused));
  expect_unchanged(view_fusion_pass(), air("%0 \"x\": f32[2,16]", "%3, %4",
                                           split + fused + "  %4 \"t\" = Transpose@13(%1) : f32[8,2]\n"));
}

TEST(ViewFusion, AConcatReadsATransposeThroughAReshape) {
  const std::string chain =
      "  %3 = const i64[2] {1,12}\n  %2 = Transpose@13(%0) {perm=[1,0]} : f32[3,4]\n"
      "  %4 = Reshape@13(%2, %3) : f32[1,12]\n";
  const std::string inputs = "%0 \"x\": f32[4,3], %1 \"z\": f32[1,2]";
  // The view has a dim for each step of the strides.
  expect_unchanged(view_fusion_pass(),
                   air(inputs, "%5", chain + "  %5 \"y\" = Concat@13(%1, %4) {axis=1} : f32[1,14]\n"));
  const std::string same = "  %2 = Transpose@13(%0) {perm=[1,0]} : f32[3,4]\n";
  EXPECT_EQ(run_pass(view_fusion_pass(), air("%0 \"x\": f32[4,3], %1 \"z\": f32[1,4]", "%3",
                                             same + "  %3 \"y\" = Concat@13(%1, %2) {axis=-2} : f32[4,4]\n")),
            air("%0 \"x\": f32[4,3], %1 \"z\": f32[1,4]", "%4",
                same + "  %4 \"y\" = atc::Concat(%1, %0) {axis=0, parts=[1,2,0,3,4,1,3]} : f32[4,4]\n"));
}

TEST(ViewFusion, AConversionToBlocksReadsATranspose) {
  const std::string inputs = "%0 \"x\": f32[1,5,4]";
  const std::string transpose = "  %1 = Transpose@13(%0) {perm=[0,2,1]} : f32[1,4,5]\n";
  const std::string window =
      "  %3 \"y\" = atc::MaxPool(%2) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[1,4,5]) -> (%0) {\n  }} : "
      "f32[1,4,5]\n";
  expect_rewrite(
      view_fusion_pass(),
      air(inputs, "%3", transpose + "  %2 = atc::TransData(%1) : f32[1,4,5] NC1HWC0\n" + window),
      air(inputs, "%3",
          transpose + "  %2 = atc::TransData(%0) {parts=[0,3,0,1,4,5,20,1,4]} : f32[1,4,5] NC1HWC0\n" +
              window));
}

TEST(ViewFusion, AProgramReadsATransposeByColumns) {
  const std::string inputs = "%0 \"x\": f32[8,64]";
  const std::string transpose = "  %1 = Transpose@13(%0) {perm=[1,0]} : f32[64,8]\n";
  const std::string body =
      " {body=graph \"body\"(%0 \"a\": f32[64,8]) -> (%1) {\n    %1 = Exp@13(%0) : f32[64,8]\n  }";
  expect_rewrite(
      view_fusion_pass(),
      air(inputs, "%2", transpose + "  %2 \"y\" = atc::Fused(%1)" + body + "} : f32[64,8]\n"),
      air(inputs, "%2",
          transpose + "  %2 \"y\" = atc::Fused(%0)" + body + ", parts=[0,2,0,64,8,1,64]} : f32[64,8]\n"));
}

TEST(ViewFusion, NotForShortRowsThatSeveralReadOrReductions) {
  expect_unchanged(view_fusion_pass(),
                   air("%0 \"x\": f32[64,4]", "%3",
                       "  %1, %2 = Split@11(%0) {axis=1} : f32[64,2], f32[64,2]\n"
                       "  %3 \"y\" = atc::Fused(%1, %1) {body=graph \"body\"(%0 \"a\": f32[64,2], %1 \"b\": "
                       "f32[64,2]) -> (%2) {\n    %2 = Mul@14(%0, %1) : f32[64,2]\n  }} : f32[64,2]\n"));
  expect_unchanged(view_fusion_pass(),
                   air("%0 \"x\": f32[2,16]", "%3",
                       "  %1, %2 = Split@11(%0) {axis=1} : f32[2,8], f32[2,8]\n"
                       "  %3 \"y\" = atc::Fused(%1, %2) {body=graph \"body\"(%0 \"a\": f32[2,8], %1 \"b\": "
                       "f32[2,8]) -> (%3) {\n    %2 = Mul@14(%0, %1) : f32[2,8]\n    %3 = ReduceMax@13(%2) "
                       "{axes=[1]} : f32[2,1]\n  }, reduce_axes=[1]} : f32[2,1]\n"));
}

}  // namespace
}  // namespace atc::passes
