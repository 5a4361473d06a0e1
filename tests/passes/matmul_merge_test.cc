#include "passes/matmul_merge.h"

#include "pass_testing.h"
#include "passes/attention_fusion.h"
#include "passes/cube_form.h"
#include "passes/swiglu_fusion.h"

namespace atc::passes {
namespace {

// Two products of x, read by a gated unit.
std::string products(const std::string& outputs, const std::string& second = "%0") {
  return air("%0 \"x\": f32[5,8], %1 \"z\": f32[5,8]", outputs,
             "  %2 \"a\" = const f32[8,4] splat 1.0\n"
             "  %5 \"b\" = const f32[8,4] splat 2.0\n"
             "  %3 \"g\" = MatMul@13(%0, %2) : f32[5,4] from \"g\"\n"
             "  %4 \"u\" = MatMul@13(" +
                 second +
                 ", %5) : f32[5,4] from \"u\"\n"
                 "  %6 = Sigmoid@13(%3) : f32[5,4]\n"
                 "  %7 = Mul@14(%6, %3) : f32[5,4]\n"
                 "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n");
}

// After the passes that come before.
std::string formed(const std::string& text) {
  const auto graph = graph_of(text);
  PassContext context;
  EXPECT_TRUE(swiglu_fusion_pass().run(*graph, context).ok());
  EXPECT_TRUE(cube_form_pass().run(*graph, context).ok());
  return ir::print(*graph);
}

TEST(MatmulMerge, PutsWeightsSideBySideAndMovesTheViews) {
  const std::string after = run_pass(matmul_merge_pass(), formed(products("%9")));
  EXPECT_THAT(after, testing::HasSubstr("const f32[8,8]"));
  EXPECT_THAT(after, testing::HasSubstr("f32[5,8] from \"g\", \"u\""));
  EXPECT_THAT(after, testing::HasSubstr("views=[0,8,1,4,8,1,0,4,1]"));
  const std::size_t first = after.find("atc::MatMul(");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(after.find("atc::MatMul(", first + 1), std::string::npos);
}

TEST(MatmulMerge, LeavesOthersAlone) {
  // The model returns one of the products.
  expect_unchanged(matmul_merge_pass(), formed(products("%9, %4")));
  // Products of different values.
  expect_unchanged(matmul_merge_pass(), formed(products("%9", "%1")));
}

}  // namespace
}  // namespace atc::passes
