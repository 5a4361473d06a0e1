#include "passes/constant_folding.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ConstantFolding, ShapeArithmeticOfAStaticInput) {
  expect_rewrite(constant_folding_pass(),
                 air("%0 \"x\": f32[2,3,4]", "%6",
                     "  %1 = const i64[1] {0}\n"
                     "  %2 = const i64[1] {-1}\n"
                     "  %3 = Shape@13(%0) : ?[*]\n"
                     "  %4 = Gather@13(%3, %1) : ?[*]\n"
                     "  %5 = Concat@13(%4, %2) {axis=0} : ?[*]\n"
                     "  %6 \"y\" = Reshape@13(%0, %5) : ?[*]\n"),
                 air("%0 \"x\": f32[2,3,4]", "%6",
                     "  %5 = const i64[2] {2,-1}\n"
                     "  %6 \"y\" = Reshape@13(%0, %5) : f32[2,12]\n"));
}

TEST(ConstantFolding, FloatDetoursOfResizeSizes) {
  // Cast, Mul, Floor, Cast: what exporters write for scaled sizes.
  const std::string after =
      run_pass(constant_folding_pass(), air("%0 \"x\": f32[1,3,5,7]", "%8",
                                            "  %1 = const i64[1] {2}\n"
                                            "  %2 = const f32[] {2.5}\n"
                                            "  %3 = Shape@13(%0) : ?[*]\n"
                                            "  %4 = Gather@13(%3, %1) : ?[*]\n"
                                            "  %5 = Cast@13(%4) {to=1} : ?[*]\n"
                                            "  %6 = Mul@14(%5, %2) : ?[*]\n"
                                            "  %7 = Floor@13(%6) : ?[*]\n"
                                            "  %8 \"y\" = Cast@13(%7) {to=7} : ?[*]\n"));
  EXPECT_EQ(after, air("%0 \"x\": f32[1,3,5,7]", "%8", "  %8 \"y\" = const i64[1] {12}\n"));
}

TEST(ConstantFolding, NothingFoldsThatDependsOnAnInput) {
  expect_unchanged(constant_folding_pass(), air("%0 \"x\": f32[n]", "%3",
                                                "  %1 = const f32[] {1.0}\n"
                                                "  %2 = Shape@13(%0) : i64[1]\n"
                                                "  %3 \"y\" = Add@14(%0, %1) : f32[n]\n"));
}

TEST(ConstantFolding, LargeResultsStayNodes) {
  // 1 MiB from a 16-byte shape: the node stays. 16 KiB: small enough.
  const std::string large =
      run_pass(constant_folding_pass(), air("", "%2",
                                            "  %1 = const i64[2] {512,512}\n"
                                            "  %2 \"y\" = ConstantOfShape@9(%1) : ?[*]\n"));
  EXPECT_THAT(large, HasSubstr("ConstantOfShape@9(%1) : f32[512,512]"));
  const std::string small =
      run_pass(constant_folding_pass(), air("", "%2",
                                            "  %1 = const i64[2] {64,64}\n"
                                            "  %2 \"y\" = ConstantOfShape@9(%1) : ?[*]\n"));
  EXPECT_THAT(small, HasSubstr("%2 \"y\" = const f32[64,64] splat 0.0"));
}

TEST(ConstantFolding, GrowthDoesNotCompound) {
  // Each node doubles its input: within four times its own input, but 64 MiB at the end.
  std::string body = "  %0 = const f32[16384] splat 1.0\n";
  for (int i = 1; i <= 10; ++i)
    body += "  %" + std::to_string(i) + " = Concat@13(%" + std::to_string(i - 1) + ", %" +
            std::to_string(i - 1) + ") {axis=0} : ?[*]\n";
  const std::string after = run_pass(constant_folding_pass(), air("", "%10", body));
  EXPECT_LT(after.size(), 2000u);
  EXPECT_THAT(after, HasSubstr("%10 = Concat@13(%9, %9) {axis=0} : f32[16777216]"));
  EXPECT_THAT(after, Not(HasSubstr("const f32[16777216]")));
}

TEST(ConstantFolding, WhatBecomesSmallAgainFoldsThroughLargeValues) {
  expect_rewrite(constant_folding_pass(),
                 air("", "%4",
                     "  %1 = const i64[2] {512,512}\n"
                     "  %2 = ConstantOfShape@9(%1) {value=tensor f32[1] {2.0}} : ?[*]\n"
                     "  %3 = Neg@13(%2) : ?[*]\n"
                     "  %4 \"y\" = ReduceMax@13(%3) {keepdims=0} : ?[*]\n"),
                 air("", "%4", "  %4 \"y\" = const f32[] {-2.0}\n"));
}

TEST(ConstantFolding, WeightsMayChangeTheirTypeAndOrder) {
  expect_rewrite(constant_folding_pass(),
                 air("", "%1",
                     "  %0 = const f16[300,200] splat 1.5\n"
                     "  %2 = Cast@13(%0) {to=1} : ?[*]\n"
                     "  %1 \"y\" = Transpose@13(%2) {perm=[1,0]} : ?[*]\n"),
                 air("", "%1", "  %1 \"y\" = const f32[200,300] splat 1.5\n"));
}

TEST(ConstantFolding, AConstantConditionChoosesTheBranch) {
  // The branch not taken has an operator that nobody knows.
  expect_rewrite(constant_folding_pass(),
                 air("%0 \"x\": f32[2]", "%3",
                     "  %1 = const i64[] {1}\n"
                     "  %2 = Equal@13(%1, %1) : ?[*]\n"
                     "  %3 \"y\" = If@16(%2) {else_branch=graph \"e\"() -> (%0) {\n"
                     "    %0 = NoSuchOp@1(^%0) : ?[*]\n"
                     "  }, then_branch=graph \"t\"() -> (%2) {\n"
                     "    %0 \"k\" = const f32[] {3.0}\n"
                     "    %1 \"t\" = Add@14(^%0, %0) : ?[*] name \"add\"\n"
                     "    %2 \"u\" = Relu@14(%1) : ?[*]\n"
                     "  }} : ?[*] name \"if\"\n"),
                 air("%0 \"x\": f32[2]", "%6",
                     "  %4 \"k\" = const f32[] {3.0}\n"
                     "  %5 \"t\" = Add@14(%0, %4) : f32[2] name \"add\"\n"
                     "  %6 \"y\" = Relu@14(%5) : f32[2]\n"));
}

TEST(ConstantFolding, ABranchThatReturnsAnInputKeepsTheOutputsName) {
  expect_rewrite(constant_folding_pass(),
                 air("%0 \"x\": f32[2]", "%2",
                     "  %1 = const bool[] {0}\n"
                     "  %2 \"y\" = If@16(%1) {else_branch=graph \"e\"() -> (^%0) {\n"
                     "  }, then_branch=graph \"t\"() -> (^%0) {\n"
                     "  }} : ?[*] from \"if\"\n"),
                 air("%0 \"x\": f32[2]", "%3", "  %3 \"y\" = Identity@16(%0) : f32[2] from \"if\"\n"));
}

TEST(ConstantFolding, NestedConditionsInlineThrough) {
  const std::string after =
      run_pass(constant_folding_pass(), air("%0 \"x\": f32[2]", "%2",
                                            "  %1 = const bool[] {1}\n"
                                            "  %2 \"y\" = If@16(%1) {else_branch=graph \"e\"() -> (^%0) {\n"
                                            "  }, then_branch=graph \"t\"() -> (%1) {\n"
                                            "    %0 = Neg@13(^%0) : ?[*]\n"
                                            "    %1 = If@16(^%1) {else_branch=graph \"f\"() -> (^%0) {\n"
                                            "    }, then_branch=graph \"u\"() -> (%0) {\n"
                                            "      %0 = Add@14(^%0, ^^%0) : ?[*]\n"
                                            "    }} : ?[*]\n"
                                            "  }} : ?[*]\n"));
  EXPECT_THAT(after, HasSubstr("= Neg@13(%0) : f32[2]"));
  EXPECT_THAT(after, HasSubstr("\"y\" = Add@14(%3, %0) : f32[2]"));
  EXPECT_THAT(after, Not(HasSubstr("If")));
}

TEST(ConstantFolding, UnknownOperatorsAreRefusedAsInInference) {
  EXPECT_EQ(
      fault_of(constant_folding_pass(), air("%0 \"x\": f32[2]", "%1", "  %1 = NoSuchOp@1(%0) : ?[*]\n")).code,
      "E16002");
}

/// The graph after the pass, which is switched off.
std::string folded_off(const std::string& text) {
  const auto graph = graph_of(text);
  PassContext context;
  context.options.switches.passes["constant-folding"] = false;
  for (int round = 0; round < 2; ++round) {
    const auto changes = constant_folding_pass().run(*graph, context);
    EXPECT_TRUE(changes.ok()) << changes.status().to_string();
    if (round == 1) {
      EXPECT_EQ(*changes, 0) << "a second run makes changes";
    }
  }
  EXPECT_EQ(ir::verify(*graph), "");
  return ir::print(*graph);
}

TEST(ConstantFoldingOff, WhatElementwiseOperatorsAndProductsReadStays) {
  const std::string after = folded_off(air("%0 \"x\": f32[2,3]", "%6",
                                           "  %1 = const f32[4,3] splat 0.5\n"
                                           "  %2 = Transpose@13(%1) : f32[3,4]\n"
                                           "  %3 = const f32[4] {1.0,2.0,3.0,4.0}\n"
                                           "  %4 = Exp@13(%3) : f32[4]\n"
                                           "  %5 = MatMul@13(%0, %2) : f32[2,4]\n"
                                           "  %6 \"y\" = Add@14(%5, %4) : f32[2,4]\n"));
  EXPECT_THAT(after, HasSubstr("Transpose@13("));
  EXPECT_THAT(after, HasSubstr("Exp@13("));
}

TEST(ConstantFoldingOff, ParametersNumbersAndIntegersAreFolded) {
  const std::string after = folded_off(air("%0 \"x\": f32[1,3,5,7]", "%9, %12, %14",
                                           "  %1 = const f32[1,1,3,4] splat 0.5\n"
                                           "  %2 = Transpose@13(%1) {perm=[3,2,0,1]} : f32[4,3,1,1]\n"
                                           "  %9 \"y\" = Conv@11(%0, %2) : f32[1,4,5,7]\n"
                                           "  %3 = const f32[4] {1.0,1.0,2.0,2.0}\n"
                                           "  %4 = Neg@13(%3) : f32[4]\n"
                                           "  %5 = Abs@13(%4) : f32[4]\n"
                                           "  %12 \"z\" = Resize@13(%0, _, %5) : f32[1,3,10,14]\n"
                                           "  %6 = const f32[] {4.0}\n"
                                           "  %7 = Sqrt@13(%6) : f32[]\n"
                                           "  %10 = const f32[2] {3.5,35.5}\n"
                                           "  %11 = Floor@13(%10) : f32[2]\n"
                                           "  %13 = Cast@13(%11) {to=7} : i64[2]\n"
                                           "  %15 = Mul@14(%0, %7) : f32[1,3,5,7]\n"
                                           "  %14 \"w\" = Reshape@13(%15, %13) : f32[3,35]\n"));
  for (const char* folded : {"Transpose", "Neg", "Abs", "Sqrt", "Floor", "Cast"})
    EXPECT_THAT(after, Not(HasSubstr(folded))) << folded;
}

}  // namespace
}  // namespace atc::passes
