#include "passes/norm_fusion.h"

#include "pass_testing.h"
#include "passes/add_norm_fusion.h"
#include "passes/group_norm_fusion.h"

namespace atc::passes {
namespace {

using testing::HasSubstr;

/// Of x %0: mean %2, difference %3, root %8 with readers `rest`.
std::string centred(const std::string& rest, const std::string& outputs, const std::string& axes = "[-1]") {
  return air("%0 \"x\": f32[2,3,8]", outputs,
             "  %1 \"e\" = const f32[] {0.001}\n"
             "  %10 \"g\" = const f32[8] splat 2.0\n"
             "  %11 \"b\" = const f32[8] splat 0.5\n"
             "  %2 = ReduceMean@13(%0) {axes=" +
                 axes +
                 "} : f32[2,3,1]\n"
                 "  %3 = Sub@14(%0, %2) : f32[2,3,8]\n"
                 "  %4 = Mul@14(%3, %3) : f32[2,3,8]\n"
                 "  %5 = ReduceMean@13(%4) {axes=[-1]} : f32[2,3,1]\n"
                 "  %6 = Add@14(%5, %1) : f32[2,3,1]\n"
                 "  %8 = Sqrt@13(%6) : f32[2,3,1]\n" +
                 rest);
}
const std::string kScaled =
    "  %9 = Div@14(%3, %8) : f32[2,3,8]\n"
    "  %12 = Mul@14(%10, %9) : f32[2,3,8]\n"
    "  %13 \"y\" = Add@14(%12, %11) : f32[2,3,8]\n";

TEST(NormFusion, MakesLayerNormalization) {
  int changes = 0;
  const std::string after = run_pass(layer_norm_fusion_pass(), centred(kScaled, "%13"), &changes);
  EXPECT_EQ(changes, 1);
  EXPECT_THAT(after, HasSubstr("LayerNormalization@17(%0, %10, %11) {axis=2, epsilon=0.001}"));
  EXPECT_THAT(after, testing::Not(HasSubstr("ReduceMean")));
}

TEST(NormFusion, TakesNoScaleForOne) {
  const std::string after =
      run_pass(layer_norm_fusion_pass(), centred("  %9 \"y\" = Div@14(%3, %8) : f32[2,3,8]\n", "%9"));
  EXPECT_THAT(after, HasSubstr("const f32[] {1.0}"));
  EXPECT_THAT(after, HasSubstr("LayerNormalization@17(%0, "));
}

TEST(NormFusion, StopsInFrontOfWhatIsNoParameter) {
  // The variance is read again; the model returns the scaled value.
  const std::string rows = centred(
      "  %9 = Div@14(%3, %8) : f32[2,3,8]\n"
      "  %12 \"y\" = Mul@14(%9, %5) : f32[2,3,8]\n",
      "%12");
  expect_unchanged(layer_norm_fusion_pass(), ir::print(*graph_of(rows)));
  const std::string after = run_pass(layer_norm_fusion_pass(), centred(kScaled, "%13, %12"));
  EXPECT_THAT(after, HasSubstr("LayerNormalization@17(%0, %10) "));
  EXPECT_THAT(after, HasSubstr("Add@14("));
}

TEST(NormFusion, LeavesOtherFormsAlone) {
  for (const std::string& text : {
           centred(kScaled, "%13, %8"),                                  // the root is an output
           centred(kScaled, "%13, %2"),                                  // the mean is
           centred(kScaled, "%13", "[1]"),                               // ill typed, but of other axes
           centred("  %9 \"y\" = Div@14(%0, %8) : f32[2,3,8]\n", "%9"),  // x itself is divided
           centred("  %9 \"y\" = Mul@14(%3, %8) : f32[2,3,8]\n", "%9"),  // by the root, not its reciprocal
       }) {
    int changes = -1;
    run_pass(layer_norm_fusion_pass(), text, &changes);
    EXPECT_EQ(changes, 0) << text;
  }
}

TEST(NormFusion, RmsNormIsWithoutMean) {
  const std::string rms = air("%0 \"x\": f32[2,3,8]", "%6",
                              "  %1 \"e\" = const f32[] {0.001}\n"
                              "  %2 \"two\" = const f32[] {2.0}\n"
                              "  %7 \"g\" = const f32[8] splat 2.0\n"
                              "  %3 = Pow@13(%0, %2) : f32[2,3,8]\n"
                              "  %4 = ReduceMean@13(%3) {axes=[-1]} : f32[2,3,1]\n"
                              "  %5 = Add@14(%4, %1) : f32[2,3,1]\n"
                              "  %8 = Sqrt@13(%5) : f32[2,3,1]\n"
                              "  %9 = Div@14(%0, %8) : f32[2,3,8]\n"
                              "  %6 \"y\" = Mul@14(%7, %9) : f32[2,3,8]\n");
  EXPECT_THAT(run_pass(rms_norm_fusion_pass(), rms),
              HasSubstr("RMSNormalization@23(%0, %7) {axis=2, epsilon=0.001}"));
  int changes = -1;
  run_pass(layer_norm_fusion_pass(), rms, &changes);
  EXPECT_EQ(changes, 0);
  run_pass(rms_norm_fusion_pass(), centred(kScaled, "%13"), &changes);
  EXPECT_EQ(changes, 0);
}

TEST(NormFusion, NodesThatAreReplacedStayKnown) {
  const auto graph = graph_of(centred(kScaled, "%13"));
  int i = 0;
  for (const auto& n : graph->nodes()) {
    n->name = "n" + std::to_string(++i);
    n->sources = {n->name};
  }
  PassContext context;
  ASSERT_TRUE(layer_norm_fusion_pass().run(*graph, context).ok());
  const ir::Node& norm = *graph->nodes().back();
  EXPECT_EQ(norm.name, "n9/LayerNorm");
  EXPECT_THAT(norm.sources,
              testing::UnorderedElementsAre("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"));
  EXPECT_EQ(context.fusions.graph_fusion().at("LayerNormONNXFusionPass").effect_times, 1);
}

std::string summed(const std::string& outputs,
                   const std::string& norm = "LayerNormalization@17(%3, %4, %5)") {
  return air("%0 \"a\": f32[2,8], %1 \"b\": f32[2,8]", outputs,
             "  %4 \"g\" = const f32[8] splat 2.0\n"
             "  %5 \"b\" = const f32[8] splat 0.5\n"
             "  %3 \"s\" = Add@14(%0, %1) : f32[2,8]\n"
             "  %6 \"y\" = " +
                 norm + " : f32[2,8]\n");
}

TEST(AddNormFusion, TakesTheSumIn) {
  EXPECT_THAT(run_pass(add_layer_norm_fusion_pass(), summed("%6")),
              HasSubstr("atc::AddLayerNorm(%0, %1, %4, %5)"));
  const std::string both = run_pass(add_layer_norm_fusion_pass(), summed("%6, %3"));
  EXPECT_THAT(both, HasSubstr("atc::AddLayerNorm(%0, %1, %4, %5)"));
  EXPECT_THAT(both, testing::Not(HasSubstr("Add@14")));
  EXPECT_THAT(run_pass(add_rms_norm_fusion_pass(), summed("%6", "RMSNormalization@23(%3, %4)")),
              HasSubstr("atc::AddRmsNorm(%0, %1, %4)"));
  int changes = -1;
  run_pass(add_rms_norm_fusion_pass(), summed("%6"), &changes);
  EXPECT_EQ(changes, 0);
}

TEST(AddNormFusion, LeavesConstantsAlone) {
  int changes = -1;
  run_pass(add_layer_norm_fusion_pass(),
           air("%0 \"a\": f32[2,8]", "%6",
               "  %4 \"g\" = const f32[8] splat 2.0\n"
               "  %3 \"s\" = Add@14(%0, %4) : f32[2,8]\n"
               "  %6 \"y\" = LayerNormalization@17(%3, %4) : f32[2,8]\n"),
           &changes);
  EXPECT_EQ(changes, 0);
}

std::string grouped(const std::string& scale, const std::string& outputs = "%8") {
  return air("%0 \"x\": f32[2,8,3,3]", outputs,
             "  %1 \"groups\" = const i64[3] {2,4,18}\n"
             "  %2 \"back\" = const i64[4] {2,8,3,3}\n"
             "  %3 \"s\" = const f32[4] splat 2.0\n"
             "  %4 \"b\" = const f32[4] splat 0.5\n"
             "  %5 = Reshape@14(%0, %1) : f32[2,4,18]\n"
             "  %6 = InstanceNormalization@6(%5, %3, %4) {epsilon=0.001} : f32[2,4,18]\n"
             "  %7 = Reshape@14(%6, %2) : f32[2,8,3,3]\n" +
                 scale);
}

TEST(GroupNormFusion, JoinsBothScales) {
  const std::string after =
      run_pass(group_norm_fusion_pass(), grouped("  %9 \"c\" = const f32[8,1,1] splat 3.0\n"
                                                 "  %8 \"y\" = Mul@14(%7, %9) : f32[2,8,3,3]\n"));
  EXPECT_THAT(after, HasSubstr("GroupNormalization@21(%0, "));
  EXPECT_THAT(after, HasSubstr("epsilon=0.001, num_groups=4"));
  EXPECT_THAT(after, HasSubstr("const f32[8] splat 6.0"));
  EXPECT_THAT(after, HasSubstr("const f32[8] splat 1.5"));
}

TEST(GroupNormFusion, LeavesOtherFormsAlone) {
  int changes = -1;
  // The groups are read, and a scale of single elements.
  run_pass(group_norm_fusion_pass(), grouped("  %8 \"y\" = Relu@14(%7) : f32[2,8,3,3]\n", "%8, %6"),
           &changes);
  EXPECT_EQ(changes, 0);
  const std::string after =
      run_pass(group_norm_fusion_pass(), grouped("  %9 \"c\" = const f32[8,3,3] splat 3.0\n"
                                                 "  %8 \"y\" = Mul@14(%7, %9) : f32[2,8,3,3]\n"));
  EXPECT_THAT(after, HasSubstr("Mul@14("));
}

}  // namespace
}  // namespace atc::passes
