#include "passes/attention_lowering.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AttentionLowering, RankThreeIsReadThroughStrides) {
  const std::string after =
      run_pass(attention_lowering_pass(),
               air("%0 \"q\": f32[2,7,64], %1 \"k\": f32[2,20,32], %2 \"v\": f32[2,20,48]", "%3",
                   "  %3 \"y\" = Attention@23(%0, %1, %2) {kv_num_heads=2, q_num_heads=4} : f32[2,7,96] "
                   "name \"a\" from \"a\"\n"));
  EXPECT_THAT(after, HasSubstr("atc::Attention(%0, _, %1, %2)"));
  EXPECT_THAT(after, HasSubstr("sizes=[2,4,2,7,16,24]"));
  EXPECT_THAT(after, HasSubstr("views=[0,448,16,64,0,672,24,96,0,640,16,32,0,960,24,48]"));
  EXPECT_THAT(after, HasSubstr("scale=0.25"));
  EXPECT_THAT(after, Not(HasSubstr("Transpose")));
}

TEST(AttentionLowering, PresentsAreConcatsThatTheKernelReads) {
  const std::string after =
      run_pass(attention_lowering_pass(),
               air("%0 \"q\": f32[1,2,3,16], %1 \"k\": f32[1,2,3,16], %2 \"v\": f32[1,2,3,16], %3 \"pk\": "
                   "f32[1,2,5,16], "
                   "%4 \"pv\": f32[1,2,5,16]",
                   "%5, %6, %7",
                   "  %5 \"y\", %6 \"k2\", %7 \"v2\" = Attention@23(%0, %1, %2, _, %3, %4) {is_causal=1} : "
                   "f32[1,2,3,16], f32[1,2,8,16], f32[1,2,8,16] name \"a\" from \"a\"\n"));
  EXPECT_THAT(after, HasSubstr("\"k2\" = Concat@17(%3, %1) {axis=2}"));
  EXPECT_THAT(after, HasSubstr("\"v2\" = Concat@17(%4, %2) {axis=2}"));
  EXPECT_THAT(after, HasSubstr("causal_offset=5"));
  EXPECT_THAT(after, HasSubstr("segments=[8]"));
}

TEST(AttentionLowering, LeavesOtherTypesAlone) {
  expect_unchanged(attention_lowering_pass(),
                   air("%0 \"q\": f64[1,2,3,16], %1 \"k\": f64[1,2,3,16], %2 \"v\": f64[1,2,3,16]", "%3",
                       "  %3 \"y\" = Attention@23(%0, %1, %2) : f64[1,2,3,16] name \"a\" from \"a\"\n"));
  expect_unchanged(attention_lowering_pass(),
                   air("%0 \"q\": f32[1,2,3,16], %1 \"k\": f32[1,2,3,16], %2 \"v\": f16[1,2,3,16]", "%3",
                       "  %3 \"y\" = Attention@23(%0, %1, %2) : f32[1,2,3,16] name \"a\" from \"a\"\n"));
}

}  // namespace
}  // namespace atc::passes
