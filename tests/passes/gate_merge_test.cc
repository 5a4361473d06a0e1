#include "passes/gate_merge.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;

std::string cell(const std::string& second, const std::string& outputs = "%20, %21") {
  return air("%0 \"x\": f32[2,3], %1 \"h\": f32[2,4], %2 \"z\": f32[2,4]", outputs,
             "  %3 \"wi\" = const f32[3,4] splat 1.0\n"
             "  %4 \"ui\" = const f32[4,4] splat 2.0\n"
             "  %5 \"bi\" = const f32[4] splat 3.0\n"
             "  %6 \"wf\" = const f32[3,4] splat 4.0\n"
             "  %7 \"uf\" = const f32[4,4] splat 5.0\n"
             "  %10 = MatMul@13(%0, %3) : f32[2,4]\n"
             "  %11 = MatMul@13(%1, %4) : f32[2,4]\n"
             "  %12 = Add@14(%10, %11) : f32[2,4]\n"
             "  %13 = Add@14(%12, %5) : f32[2,4]\n"
             "  %20 \"i\" = Sigmoid@13(%13) : f32[2,4]\n"
             "  %14 = MatMul@13(%0, %6) : f32[2,4]\n" +
                 second + "  %21 \"f\" = Tanh@13(%16) : f32[2,4]\n");
}
const std::string kSecond =
    "  %15 = MatMul@13(%1, %7) : f32[2,4]\n"
    "  %16 = Add@14(%15, %14) : f32[2,4]\n";

int changes_of(const std::string& text) {
  int changes = -1;
  run_pass(gate_merge_pass(), text, &changes);
  return changes;
}

TEST(GateMerge, JoinsProductsOfTheSameValues) {
  int changes = 0;
  const std::string after = run_pass(gate_merge_pass(), cell(kSecond), &changes);
  EXPECT_EQ(changes, 1);
  EXPECT_THAT(after, HasSubstr("const f32[3,8] {1.0,1.0,1.0,1.0,4.0,4.0,4.0,4.0,"));
  EXPECT_THAT(after, HasSubstr("const f32[4,8] {2.0,2.0,2.0,2.0,5.0,5.0,5.0,5.0,"));
  EXPECT_THAT(after, HasSubstr("const f32[8] {3.0,3.0,3.0,3.0,0.0,0.0,0.0,0.0}"));
  EXPECT_THAT(after, HasSubstr("= Split@13("));
  EXPECT_THAT(after, HasSubstr("f32[2,4], f32[2,4]"));
}

TEST(GateMerge, LeavesOtherSumsAlone) {
  // Of another value, of one product, of a computed bias, read by what is not elementwise, or returned.
  EXPECT_EQ(changes_of(cell("  %15 = MatMul@13(%2, %7) : f32[2,4]\n"
                            "  %16 = Add@14(%15, %14) : f32[2,4]\n")),
            0);
  EXPECT_EQ(changes_of(cell("  %16 = Add@14(%14, %5) : f32[2,4]\n")), 0);
  EXPECT_EQ(changes_of(cell("  %15 = MatMul@13(%1, %7) : f32[2,4]\n"
                            "  %17 = Add@14(%15, %14) : f32[2,4]\n"
                            "  %18 = Add@14(%17, %2) : f32[2,4]\n"
                            "  %16 = MatMul@13(%17, %7) : f32[2,4]\n",
                            "%20, %21, %18")),
            0);
  EXPECT_EQ(changes_of(cell(kSecond, "%20, %21, %16")), 0);
  EXPECT_EQ(changes_of(cell(kSecond, "%20, %21, %11")), 0);
}

}  // namespace
}  // namespace atc::passes
