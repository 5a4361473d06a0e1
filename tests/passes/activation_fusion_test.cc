// gelu-fusion, swish-fusion and hard-swish-fusion; their forms with values are in
// tests/runtime/activation_forms_test.cc.
#include "pass_testing.h"
#include "passes/gelu_fusion.h"
#include "passes/hard_swish_fusion.h"
#include "passes/swish_fusion.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;

constexpr const char* kConstants =
    "  %1 \"one\" = const f32[] {1.0}\n"
    "  %2 \"half\" = const f32[] {0.5}\n"
    "  %3 \"root\" = const f32[] {1.4142135}\n"
    "  %4 \"zero\" = const f32[] {0.0}\n"
    "  %5 \"three\" = const f32[] {3.0}\n"
    "  %6 \"six\" = const f32[] {6.0}\n"
    "  %7 \"wide\" = const f32[3,4] splat 1.0\n";

std::string on_x(const std::string& body, const std::string& outputs) {
  return air("%0 \"x\": f32[3,4]", outputs, kConstants + body);
}

int changes_of(const Pass& pass, const std::string& text) {
  int changes = -1;
  run_pass(pass, text, &changes);
  return changes;
}

const std::string kErf =
    "  %10 = Div@14(%0, %3) : f32[3,4]\n"
    "  %11 = Erf@13(%10) : f32[3,4]\n"
    "  %12 = Add@14(%11, %1) : f32[3,4]\n"
    "  %13 = Mul@14(%0, %12) : f32[3,4]\n"
    "  %14 \"y\" = Mul@14(%13, %2) : f32[3,4]\n";

TEST(GeluFusion, MakesTheOperator) {
  expect_rewrite(gelu_fusion_pass(), on_x(kErf, "%14"),
                 air("%0 \"x\": f32[3,4]", "%15",
                     std::string(kConstants) + "  %15 \"y\" = Gelu@20(%0) : f32[3,4] name \"Gelu\"\n"));
}

TEST(GeluFusion, KeepsWhatOthersRead) {
  for (const char* outputs : {"%14, %13", "%14, %12", "%14, %10"})
    EXPECT_EQ(changes_of(gelu_fusion_pass(), on_x(kErf, outputs)), 0) << outputs;
  // One element for all would be spread by the factor that goes.
  EXPECT_EQ(changes_of(gelu_fusion_pass(), air("%0 \"x\": f32[1]", "%14",
                                               "  %1 \"one\" = const f32[3] splat 1.0\n"
                                               "  %2 \"half\" = const f32[] {0.5}\n"
                                               "  %11 = Erf@13(%0) : f32[1]\n"
                                               "  %12 = Add@14(%11, %1) : f32[3]\n"
                                               "  %13 = Mul@14(%0, %12) : f32[3]\n"
                                               "  %14 \"y\" = Mul@14(%13, %2) : f32[3]\n")),
            0);
}

TEST(SwishFusion, MakesTheOperators) {
  const std::string silu =
      "  %10 = Sigmoid@13(%0) : f32[3,4]\n"
      "  %11 \"y\" = Mul@14(%10, %0) : f32[3,4]\n";
  EXPECT_THAT(run_pass(swish_fusion_pass(), on_x(silu, "%11")), HasSubstr("Swish@24(%0) : f32[3,4]"));
  EXPECT_EQ(changes_of(swish_fusion_pass(), on_x(silu, "%11, %10")), 0);
  const std::string quick =
      "  %9 = Mul@14(%0, %5) : f32[3,4]\n"
      "  %10 = Sigmoid@13(%9) : f32[3,4]\n"
      "  %11 \"y\" = Mul@14(%10, %0) : f32[3,4]\n";
  EXPECT_THAT(run_pass(swish_fusion_pass(), on_x(quick, "%11")), HasSubstr("Swish@24(%0) {alpha=3.0}"));
  const std::string mish =
      "  %9 = Softplus@1(%0) : f32[3,4]\n"
      "  %10 = Tanh@13(%9) : f32[3,4]\n"
      "  %11 \"y\" = Mul@14(%0, %10) : f32[3,4]\n";
  EXPECT_THAT(run_pass(swish_fusion_pass(), on_x(mish, "%11")), HasSubstr("Mish@18(%0)"));
  EXPECT_EQ(changes_of(swish_fusion_pass(), on_x(mish, "%11, %9")), 0);
  const std::string sigmoid =
      "  %8 = Neg@13(%0) : f32[3,4]\n"
      "  %9 = Exp@13(%8) : f32[3,4]\n"
      "  %10 = Add@14(%1, %9) : f32[3,4]\n"
      "  %11 \"y\" = Reciprocal@13(%10) : f32[3,4]\n";
  EXPECT_THAT(run_pass(swish_fusion_pass(), on_x(sigmoid, "%11")), HasSubstr("Sigmoid@13(%0)"));
  EXPECT_EQ(changes_of(swish_fusion_pass(), on_x(sigmoid, "%11, %9")), 0);
}

TEST(HardSwishFusion, MakesTheOperators) {
  const auto swish = [](const std::string& shift, const std::string& last) {
    return "  %8 = Add@14(%0, " + shift +
           ") : f32[3,4]\n"
           "  %9 = Clip@13(%8, %4, %6) : f32[3,4]\n"
           "  %10 = Mul@14(%0, %9) : f32[3,4]\n"
           "  %11 \"y\" = Div@14(%10, " +
           last + ") : f32[3,4]\n";
  };
  EXPECT_THAT(run_pass(hard_swish_fusion_pass(), on_x(swish("%5", "%6"), "%11")),
              HasSubstr("HardSwish@14(%0)"));
  EXPECT_EQ(changes_of(hard_swish_fusion_pass(), on_x(swish("%1", "%6"), "%11")), 0);
  EXPECT_EQ(changes_of(hard_swish_fusion_pass(), on_x(swish("%5", "%5"), "%11")), 0);
  EXPECT_EQ(changes_of(hard_swish_fusion_pass(), on_x(swish("%5", "%6"), "%11, %9")), 0);
  EXPECT_THAT(run_pass(hard_swish_fusion_pass(), on_x("  %8 = Add@14(%0, %5) : f32[3,4]\n"
                                                      "  %9 = Clip@6(%8) {max=6.0, min=0.0} : f32[3,4]\n"
                                                      "  %11 \"y\" = Div@14(%9, %6) : f32[3,4]\n",
                                                      "%11")),
              HasSubstr("HardSigmoid@6(%0)"));
}

}  // namespace
}  // namespace atc::passes
