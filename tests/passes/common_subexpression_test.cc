#include "passes/common_subexpression.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

const std::string kX = "%0 \"x\": f32[2]";

TEST(CommonSubexpression, EqualNodesBecomeOne) {
  expect_rewrite(common_subexpression_pass(),
                 air(kX, "%5",
                     "  %1 = Relu@14(%0) : f32[2] name \"a\" from \"a\"\n"
                     "  %2 = Relu@14(%0) : f32[2] name \"b\" from \"b\"\n"
                     "  %3 = Exp@13(%1) : f32[2]\n"
                     "  %4 = Exp@13(%2) : f32[2]\n"
                     "  %5 \"y\" = Add@14(%3, %4) : f32[2]\n"),
                 air(kX, "%5",
                     "  %1 = Relu@14(%0) : f32[2] name \"a\" from \"a\", \"b\"\n"
                     "  %3 = Exp@13(%1) : f32[2]\n"
                     "  %5 \"y\" = Add@14(%3, %3) : f32[2]\n"));
}

TEST(CommonSubexpression, EqualConstantsBecomeOne) {
  expect_rewrite(common_subexpression_pass(),
                 air(kX, "%4",
                     "  %1 = const f32[2] {1.0,nan}\n"
                     "  %2 = const f32[2] {1.0,nan}\n"
                     "  %3 = Add@14(%0, %1) : f32[2]\n"
                     "  %4 \"y\" = Mul@14(%3, %2) : f32[2]\n"),
                 air(kX, "%4",
                     "  %1 = const f32[2] {1.0,nan}\n"
                     "  %3 = Add@14(%0, %1) : f32[2]\n"
                     "  %4 \"y\" = Mul@14(%3, %1) : f32[2]\n"));
}

TEST(CommonSubexpression, OneOutputKeepsItsName) {
  expect_rewrite(common_subexpression_pass(),
                 air(kX, "%2, %3",
                     "  %1 \"t\" = Relu@14(%0) : f32[2]\n"
                     "  %2 \"y\" = Relu@14(%0) : f32[2]\n"
                     "  %3 \"z\" = Exp@13(%1) : f32[2]\n"),
                 air(kX, "%1, %3",
                     "  %1 \"y\" = Relu@14(%0) : f32[2]\n"
                     "  %3 \"z\" = Exp@13(%1) : f32[2]\n"));
}

TEST(CommonSubexpression, TwoOutputsNeedTwoNames) {
  expect_unchanged(common_subexpression_pass(), air(kX, "%1, %2",
                                                    "  %1 \"y\" = Relu@14(%0) : f32[2]\n"
                                                    "  %2 \"z\" = Relu@14(%0) : f32[2]\n"));
}

TEST(CommonSubexpression, DifferencesCount) {
  expect_unchanged(
      common_subexpression_pass(),
      air(kX, "%13",
          "  %1 = const f32[1] {0.0}\n"
          "  %2 = const f32[1] {-0.0}\n"
          "  %3 = const i32[1] {0}\n"
          "  %4 = const f32[1,1] {0.0}\n"
          "  %5 = LeakyRelu@16(%0) {alpha=0.5} : f32[2]\n"
          "  %6 = LeakyRelu@16(%0) {alpha=0.25} : f32[2]\n"
          "  %7 = LeakyRelu@6(%0) {alpha=0.5} : f32[2]\n"
          "  %8 = Cast@13(%0) {to=1} : f32[2]\n"
          "  %9 = Cast@13(%0) {to=10} : f16[2]\n"
          "  %10 = Sub@14(%0, %5) : f32[2]\n"
          "  %11 = Sub@14(%5, %0) : f32[2]\n"
          "  %12 = UnknownOp@1(%0) : f32[2]\n"
          "  %14 = UnknownOp@1(%0) : f32[2]\n"
          "  %13 \"y\" = Use@1(%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %14) : f32[2]\n"));
}

TEST(CommonSubexpression, NestedGraphsUseWhatIsComputedOutside) {
  const std::string inputs = "%0 \"x\": f32[2], %1 \"c\": bool[]";
  expect_rewrite(common_subexpression_pass(),
                 air(inputs, "%3",
                     "  %2 = Relu@14(%0) : f32[2]\n"
                     "  %3 \"y\" = If@16(%1) {else_branch=graph \"e\"() -> (%1) {\n"
                     "    %0 = Relu@14(^%0) : f32[2]\n"
                     "    %1 = Exp@13(%0) : f32[2]\n"
                     "  }, then_branch=graph \"t\"() -> (%0) {\n"
                     "    %0 = Add@14(^%2, ^%2) : f32[2]\n"
                     "  }} : f32[2]\n"
                     "  %4 = Exp@13(%2) : f32[2]\n"),
                 air(inputs, "%3",
                     "  %2 = Relu@14(%0) : f32[2]\n"
                     "  %3 \"y\" = If@16(%1) {else_branch=graph \"e\"() -> (%1) {\n"
                     "    %1 = Exp@13(^%2) : f32[2]\n"
                     "  }, then_branch=graph \"t\"() -> (%0) {\n"
                     "    %0 = Add@14(^%2, ^%2) : f32[2]\n"
                     "  }} : f32[2]\n"));
}

}  // namespace
}  // namespace atc::passes
