#include "passes/embedding_fusion.h"

#include "pass_testing.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Rows of a table plus %2, normalized.
std::string program(const std::string& gather, const std::string& outputs = "%9") {
  return air("%0 \"ids\": i64[2,5], %2 \"p\": f32[5,32]", outputs,
             "  %1 \"words\" = const f32[9,32] splat 0.5\n" + gather +
                 "  %9 \"y\" = atc::Fused(%3, %2) {body=graph \"body\"(%0 \"e\": f32[2,5,32], %1 \"p\": "
                 "f32[5,32]) -> (%4) {\n"
                 "    %2 = Add@14(%0, %1) : f32[2,5,32]\n"
                 "    %3 = ReduceMean@13(%2) {axes=[2]} : f32[2,5,1]\n"
                 "    %4 = Sub@14(%2, %3) : f32[2,5,32]\n"
                 "  }, reduce_axes=[2]} : f32[2,5,32] name \"n\" from \"n\"\n");
}
const std::string kGather = "  %3 \"e\" = Gather@13(%1, %0) {axis=0} : f32[2,5,32] name \"g\" from \"g\"\n";

TEST(EmbeddingFusion, RowsAreGatheredIntoTheProgram) {
  const std::string after = run_pass(embedding_fusion_pass(), program(kGather));
  EXPECT_THAT(after, HasSubstr("atc::Fused(%1, %2, %0)"));
  EXPECT_THAT(after, HasSubstr("gathers=[0,2]"));
  EXPECT_THAT(after, HasSubstr("label=\"Gather+Add+ReduceMean+Sub\""));
  EXPECT_THAT(after, HasSubstr("from \"n\", \"g\""));
  EXPECT_THAT(after, Not(HasSubstr("Gather@13")));
}

TEST(EmbeddingFusion, OthersStay) {
  // The gathered rows are read elsewhere; another axis; short rows.
  expect_unchanged(embedding_fusion_pass(), program(kGather, "%9, %3"));
  expect_unchanged(embedding_fusion_pass(),
                   air("%0 \"ids\": i64[32], %1 \"t\": f32[5,9]", "%9",
                       "  %3 = Gather@13(%1, %0) {axis=1} : f32[5,32]\n"
                       "  %9 \"y\" = atc::Fused(%3) {body=graph \"body\"(%0 \"e\": f32[5,32]) -> (%1) {\n"
                       "    %1 = Relu@14(%0) : f32[5,32]\n  }} : f32[5,32]\n"));
  expect_unchanged(embedding_fusion_pass(),
                   air("%0 \"ids\": i64[7], %1 \"t\": f32[5,8]", "%9",
                       "  %3 = Gather@13(%1, %0) {axis=0} : f32[7,8]\n"
                       "  %9 \"y\" = atc::Fused(%3) {body=graph \"body\"(%0 \"e\": f32[7,8]) -> (%1) {\n"
                       "    %1 = Relu@14(%0) : f32[7,8]\n  }} : f32[7,8]\n"));
  // Columns are reduced: rows go through UB in chunks.
  expect_unchanged(
      embedding_fusion_pass(),
      air("%0 \"ids\": i64[7], %1 \"t\": f32[5,32]", "%9",
          "  %3 = Gather@13(%1, %0) {axis=0} : f32[7,32]\n"
          "  %9 \"y\" = atc::Fused(%3) {body=graph \"body\"(%0 \"e\": f32[7,32]) -> (%1) {\n"
          "    %1 = ReduceMax@13(%0) {axes=[0]} : f32[1,32]\n  }, reduce_axes=[0]} : f32[1,32]\n"));
}

}  // namespace
}  // namespace atc::passes
