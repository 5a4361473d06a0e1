#include "passes/cast_fusion.h"

#include "simplify_testing.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kNarrow =
    "  %9 = atc::Fused(%5) {body=graph \"body\"(%0 \"v\": f32[2,64]) -> (%1) {\n"
    "    %1 = Cast@13(%0) {to=10} : f16[2,64]\n"
    "  }} : f16[2,64] name \"cast\" from \"c\"\n";
const std::string kReader =
    "  %10 \"z\" = atc::Fused(%9) {body=graph \"body\"(%0 \"h\": f16[2,64]) -> (%1) {\n"
    "    %1 = Relu@14(%0) : f16[2,64]\n"
    "  }} : f16[2,64] name \"relu\" from \"r\"\n";

TEST(CastFusion, AProgramStoresBothTypes) {
  const std::string after = run_pass(
      cast_fusion_pass(), air("%0 \"x\": f32[2,64]", "%5, %10",
                              "  %5 \"y\" = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,64]) "
                              "-> (%1) {\n"
                              "    %1 = Tanh@13(%0) : f32[2,64]\n"
                              "  }} : f32[2,64] name \"tanh\" from \"t\"\n" +
                                  kNarrow + kReader));
  EXPECT_THAT(after, HasSubstr("\"y\", %11 = atc::Fused(%0)"));
  EXPECT_THAT(after, HasSubstr("-> (%1, %2)"));
  EXPECT_THAT(after, HasSubstr("%2 = Cast@13(%1) {to=10} : f16[2,64]"));
  EXPECT_THAT(after, HasSubstr("f32[2,64], f16[2,64] name \"tanh\""));
  EXPECT_THAT(after, HasSubstr("atc::Fused(%11)"));
}

TEST(CastFusion, AProgramWithViewsToo) {
  const std::string after =
      run_pass(cast_fusion_pass(),
               air("%0 \"x\": f32[2,128]", "%5, %10",
                   "  %5 \"y\" = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,64]) -> (%1) {\n"
                   "    %1 = Tanh@13(%0) : f32[2,64]\n"
                   "  }, space=[2,64], views=[64,128,1,0,64,1]} : f32[2,64] name \"tanh\" from \"t\"\n" +
                       kNarrow + kReader));
  EXPECT_THAT(after, HasSubstr("views=[64,128,1,0,64,1,0,64,1]"));
}

TEST(CastFusion, AnEpilogueToo) {
  const std::string after =
      run_pass(cast_fusion_pass(), air("%0 \"x\": f32[2,8], %1 \"w\": f32[8,64]", "%5, %10",
                                       "  %5 \"y\" = atc::MatMul(%0, %1) {epilogue=graph \"epilogue\"(%0 "
                                       "\"acc\": f32[2,64]) -> (%0) {\n"
                                       "  }} : f32[2,64] name \"m\" from \"m\"\n" +
                                           kNarrow + kReader));
  EXPECT_THAT(after, HasSubstr("\"y\", %11 = atc::MatMul(%0, %1)"));
  EXPECT_THAT(after, HasSubstr("-> (%0, %1)"));
}

std::string viewed(const std::string& copy, const std::string& outputs = "%6") {
  return air("%0 \"x\": f16[64,2,32]", outputs,
             copy +
                 "  %6 \"y\" = atc::Fused(%5) {body=graph \"body\"(%0 \"v\": f16[2,64,32]) -> (%1) {\n"
                 "    %1 = Cast@13(%0) {to=1} : f32[2,64,32]\n"
                 "  }} : f32[2,64,32] name \"cast\" from \"c\"\n");
}

TEST(CastFusion, ACopyIsWalkedInstead) {
  const std::string after = run_pass(
      cast_fusion_pass(),
      viewed(
          "  %5 \"v\" = atc::StridedView(%0) {offset=0, shape=[2,64,32], strides=[32,64,1]} : f16[2,64,32] "
          "name \"s\" from \"s\"\n"));
  EXPECT_THAT(after, Not(HasSubstr("StridedView")));
  EXPECT_THAT(after, HasSubstr("space=[2,64,32], views=[0,32,64,1,0,2048,32,1]"));
  EXPECT_THAT(after, HasSubstr("from \"c\", \"s\""));
  EXPECT_EQ(after, run_pass(cast_fusion_pass(), after));
  EXPECT_THAT(run_pass(cast_fusion_pass(),
                       viewed("  %5 \"v\" = Transpose@13(%0) {perm=[1,0,2]} : f16[2,64,32] name \"s\"\n")),
              HasSubstr("views=[0,32,64,1,0,2048,32,1]"));
}

TEST(CastFusion, CopiesThatAreNeededStay) {
  const std::string copy = "  %5 \"v\" = Transpose@13(%0) {perm=[1,0,2]} : f16[2,64,32] name \"s\"\n";
  // The model returns it too.
  expect_kept(cast_fusion_pass(), viewed(copy, "%6, %5"));
  // Rows of single elements.
  expect_kept(cast_fusion_pass(),
              air("%0 \"x\": f16[32,64]", "%6",
                  "  %5 \"v\" = Transpose@13(%0) {perm=[1,0]} : f16[64,32] name \"s\"\n"
                  "  %6 \"y\" = atc::Fused(%5) {body=graph \"body\"(%0 \"v\": f16[64,32]) -> (%1) {\n"
                  "    %1 = Cast@13(%0) {to=1} : f32[64,32]\n"
                  "  }} : f32[64,32] name \"cast\" from \"c\"\n"));
  // An input of the model.
  expect_kept(cast_fusion_pass(),
              air("%0 \"x\": f32[2,64]", "%6",
                  "  %6 \"y\" = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,64]) -> (%1) {\n"
                  "    %1 = Cast@13(%0) {to=10} : f16[2,64]\n"
                  "  }} : f16[2,64] name \"cast\" from \"c\"\n"));
}

}  // namespace
}  // namespace atc::passes
