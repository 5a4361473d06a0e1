#include "passes/transposed_operand.h"

#include "simplify_testing.h"

namespace atc::passes {
namespace {

std::string product(const std::string& before, const std::string& b = "%2",
                    const std::string& outputs = "%9") {
  return air("%0 \"a\": f32[2,3,4,8], %1 \"b\": f32[2,3,5,8]", outputs,
             before + "  %9 \"y\" = atc::MatMul(%0, " + b +
                 ") {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,3,4,5]) -> (%0) {\n"
                 "  }} : f32[2,3,4,5] name \"m\" from \"m\"\n");
}

TEST(TransposedOperand, IsReadAsItLies) {
  const std::string after =
      run_pass(transposed_operand_pass(),
               product("  %2 = Transpose@13(%1) {perm=[0,1,3,2]} : f32[2,3,8,5] name \"t\" from \"t\"\n"));
  EXPECT_THAT(after, testing::HasSubstr("atc::MatMul(%0, %1)"));
  EXPECT_THAT(after, testing::HasSubstr("trans_b=1} : f32[2,3,4,5] name \"m\" from \"m\", \"t\""));
  EXPECT_THAT(after, testing::Not(testing::HasSubstr("Transpose")));
}

TEST(TransposedOperand, RowsAreMovedWhole) {
  const std::string after =
      run_pass(transposed_operand_pass(),
               air("%0 \"a\": f32[2,3,4,8], %1 \"b\": f32[2,5,3,8]", "%9",
                   "  %2 = Transpose@13(%1) {perm=[0,2,3,1]} : f32[2,3,8,5] name \"t\" from \"t\"\n"
                   "  %9 \"y\" = atc::MatMul(%0, %2) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,3,4,5]) "
                   "-> (%0) {\n"
                   "  }} : f32[2,3,4,5] name \"m\" from \"m\"\n"));
  EXPECT_THAT(after, testing::HasSubstr("Transpose@17(%1) {perm=[0,2,1,3]} : f32[2,3,5,8]"));
  EXPECT_THAT(after, testing::HasSubstr("trans_b=1"));
}

TEST(TransposedOperand, TheFirstOperandToo) {
  const auto text = [](const std::string& outputs) {
    return air(
        "%0 \"a\": f32[2,8,4], %1 \"b\": f32[2,5,8]", outputs,
        "  %2 \"t\" = Transpose@13(%0) {perm=[0,2,1]} : f32[2,4,8] name \"s\" from \"s\"\n"
        "  %3 = Transpose@13(%1) {perm=[0,2,1]} : f32[2,8,5] name \"t\" from \"t\"\n"
        "  %9 \"y\" = atc::MatMul(%2, %3) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,4,5]) -> (%0) {\n"
        "  }} : f32[2,4,5] name \"m\" from \"m\"\n");
  };
  const std::string after = run_pass(transposed_operand_pass(), text("%9"));
  EXPECT_THAT(after, testing::HasSubstr("atc::MatMul(%0, %1)"));
  EXPECT_THAT(after,
              testing::HasSubstr("trans_a=1, trans_b=1} : f32[2,4,5] name \"m\" from \"m\", \"s\", \"t\""));
  // The model returns the transposed first operand.
  const std::string kept = run_pass(transposed_operand_pass(), text("%9, %2"));
  EXPECT_THAT(kept, testing::HasSubstr("atc::MatMul(%2, %1)"));
  EXPECT_THAT(kept, testing::Not(testing::HasSubstr("trans_a")));
}

TEST(TransposedOperand, OthersStay) {
  const std::string swap =
      "  %2 \"k\" = Transpose@13(%1) {perm=[0,1,3,2]} : f32[2,3,8,5] name \"t\" from \"t\"\n";
  // The model returns the copy.
  expect_kept(transposed_operand_pass(), product(swap, "%2", "%9, %2"));
  // Rows would be taken apart either way.
  expect_kept(
      transposed_operand_pass(),
      air("%0 \"a\": f32[2,3,4,8], %1 \"b\": f32[5,8,2,3]", "%9",
          "  %2 = Transpose@13(%1) {perm=[2,3,1,0]} : f32[2,3,8,5] name \"t\" from \"t\"\n"
          "  %9 \"y\" = atc::MatMul(%0, %2) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,3,4,5]) -> "
          "(%0) {\n"
          "  }} : f32[2,3,4,5] name \"m\" from \"m\"\n"));
}

}  // namespace
}  // namespace atc::passes
