// What passes say of patterns that they find but cannot take.
#include "pass_testing.h"
#include "passes/attention_fusion.h"
#include "passes/conv_batch_norm.h"
#include "passes/epilogue_fusion.h"
#include "passes/fusion_trace.h"
#include "passes/matmul_merge.h"
#include "passes/pass_manager.h"
#include "passes/vector_fusion.h"

namespace atc::passes {
namespace {

using ::testing::HasSubstr;

std::vector<NearMiss> misses(const Pass& pass, std::string_view text) {
  const auto graph = graph_of(text);
  PassContext context;
  EXPECT_TRUE(pass.run(*graph, context).ok());
  return context.near_misses;
}

TEST(NearMiss, SaidTwiceCountsOnce) {
  const auto graph =
      graph_of(air("%0 \"x\": f32[2]", "%1", "  %1 \"y\" = Relu@14(%0) : f32[2] name \"r\" from \"r\"\n"));
  PassContext context;
  const ir::Node& n = *graph->nodes().front();
  context.near_miss("A", n, "first");
  context.near_miss("A", n, "second");
  context.near_miss("B", n, "other");
  ASSERT_EQ(context.near_misses.size(), 2u);
  EXPECT_EQ(context.near_misses[0].reason, "second");
  EXPECT_EQ(context.near_misses[0].node, "r");
  EXPECT_THAT(context.near_misses[0].sources, testing::ElementsAre("r"));
}

std::string attention(const std::string& between, const std::string& softmax_input,
                      const std::string& outputs, const std::string& axis = "-1") {
  return air("%0 \"q\": f32[1,2,4,8], %1 \"k\": f32[1,2,8,4], %2 \"v\": f32[1,2,4,8]", outputs,
             "  %9 = const f32[] {0.125}\n"
             "  %3 \"s\" = MatMul@13(%0, %1) : f32[1,2,4,4] name \"qk\"\n" +
                 between + "  %5 \"w\" = Softmax@13(" + softmax_input + ") {axis=" + axis +
                 "} : f32[1,2,4,4] name \"soft\"\n"
                 "  %6 \"y\" = MatMul@13(%5, %2) : f32[1,2,4,8] name \"pv\"\n");
}

TEST(NearMiss, Attention) {
  const std::string scaled = "  %4 = Mul@14(%3, %9) : f32[1,2,4,4] name \"scale\"\n";
  EXPECT_TRUE(misses(attention_fusion_pass(), attention(scaled, "%4", "%6")).empty());
  const auto reason = [](const std::string& text) {
    const auto all = misses(attention_fusion_pass(), text);
    if (all.size() != 1) return "there are " + std::to_string(all.size());
    EXPECT_EQ(all[0].fusion, "ZAttentionScoreFusionPass");
    EXPECT_EQ(all[0].node, "pv");
    return all[0].reason;
  };
  EXPECT_THAT(reason(attention(scaled, "%4", "%6, %5")),
              HasSubstr("'soft' (Softmax) makes have other readers"));
  EXPECT_THAT(reason(attention(scaled, "%4", "%6, %3")), HasSubstr("the result of 'qk' (MatMul)"));
  EXPECT_THAT(reason(attention(scaled, "%4", "%6", "2")), HasSubstr("not along the last axis"));
  EXPECT_THAT(reason(attention("  %4 = Clip@13(%3) : f32[1,2,4,4] name \"clip\"\n", "%4", "%6")),
              HasSubstr("'clip' (Clip) stands between the scores and the softmax"));
  EXPECT_THAT(reason(attention("  %4 = Mul@14(%3, %3) : f32[1,2,4,4] name \"square\"\n", "%4", "%6")),
              HasSubstr("'square' (Mul) scales the scores by a tensor"));
  // A softmax of something else is no attention.
  EXPECT_TRUE(misses(attention_fusion_pass(), air("%0 \"x\": f32[1,2,4,4], %2 \"v\": f32[1,2,4,8]", "%6",
                                                  "  %5 = Softmax@13(%0) {axis=2} : f32[1,2,4,4]\n  %6 \"y\" "
                                                  "= MatMul@13(%5, %2) : f32[1,2,4,8]\n"))
                  .empty());
}

TEST(NearMiss, ConvBatchNorm) {
  const std::string text = air(
      "%0 \"x\": f32[1,2,4,4]", "%7, %6",
      "  %1 = const f32[3,2,1,1] splat 0.5\n  %2 = const f32[3] splat 1.5\n  %3 = const f32[3] splat 0.5\n"
      "  %6 \"c\" = Conv@11(%0, %1) : f32[1,3,4,4] name \"conv\"\n"
      "  %7 \"y\" = BatchNormalization@15(%6, %2, %3, %3, %2) : f32[1,3,4,4] name \"bn\"\n");
  const auto all = misses(conv_batch_norm_pass(), text);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].node, "bn");
  EXPECT_EQ(all[0].reason, "the result of 'conv' (Conv) has other readers");
}

TEST(NearMiss, AnEpilogueThatReduces) {
  const std::string text =
      air("%0 \"x\": f32[2,4]", "%3",
          "  %1 = const f32[4,4] splat 0.5\n"
          "  %2 = atc::MatMul(%0, %1) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,4]) -> (%0) {\n  }} : "
          "f32[2,4] name \"mm\"\n"
          "  %3 \"y\" = atc::Fused(%2) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%1) {\n"
          "    %1 = ReduceMax@13(%0) {axes=[1], keepdims=1} : f32[2,1]\n  }, reduce_axes=[1]} : f32[2,1] "
          "name \"top\"\n");
  const auto all = misses(epilogue_fusion_pass(), text);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].fusion, "ATbeMatmulElemwiseFusionPass");
  EXPECT_EQ(all[0].reason, "behind 'mm' (atc.MatMul): it reduces along an axis");
}

TEST(NearMiss, ProductsThatAreNotMerged) {
  const auto product = [](int id, int weights, const std::string& name) {
    return "  %" + std::to_string(id) + " = atc::MatMul(%0, %" + std::to_string(weights) +
           ") {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,4]) -> (%0) {\n  }} : f32[2,4] name \"" + name +
           "\"\n";
  };
  const std::string text = air("%0 \"x\": f32[2,4]", "%3, %4",
                               "  %1 = const f32[4,4] splat 0.5\n  %2 = const f32[4,4] splat 0.25\n" +
                                   product(3, 1, "a") + product(4, 2, "b"));
  const auto all = misses(matmul_merge_pass(), text);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].node, "a");
  EXPECT_EQ(all[1].reason, "its result is an output of the model");
}

// Two reductions along other axes of one value.
TEST(NearMiss, ProgramsThatReduceAlongOtherAxes) {
  const auto all =
      misses(vector_fusion_pass(),
             air("%0 \"x\": f32[8,16]", "%3",
                 "  %1 = ReduceMax@13(%0) {axes=[1], keepdims=1} : f32[8,1] name \"rows\"\n"
                 "  %2 = Sub@14(%0, %1) : f32[8,16] name \"sub\"\n"
                 "  %3 \"y\" = ReduceMean@13(%2) {axes=[0], keepdims=1} : f32[1,16] name \"columns\"\n"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].fusion, "AutomaticUbFusion");
  EXPECT_THAT(all[0].reason, HasSubstr("reduce along other axes"));
}

TEST(FusionTrace, FindsWhatAPassMadeOfSeveralNodes) {
  const auto graph = graph_of(air("%0 \"x\": f32[2]", "%3",
                                  "  %1 = Relu@14(%0) : f32[2] name \"b\" from \"b\"\n"
                                  "  %2 = Tanh@13(%1) : f32[2] name \"a\" from \"a\"\n"
                                  "  %3 \"y\" = Exp@13(%2) : f32[2] name \"c\" from \"c\"\n"));
  FusionTrace trace;
  PassContext context;
  PassManagerOptions options;
  options.trace = &trace;
  PassManager manager({vector_fusion_pass(), epilogue_fusion_pass(), vector_fusion_pass()}, options);
  ASSERT_TRUE(manager.run(*graph, context).ok());
  ASSERT_EQ(trace.formations().size(), 1u);
  EXPECT_EQ(trace.formations()[0].pass, "vector-fusion");
  EXPECT_EQ(trace.formations()[0].fusion, "AutomaticUbFusion");
  EXPECT_THAT(trace.formations()[0].sources, testing::ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace atc::passes
