#include "passes/custom_norms.h"

#include "custom_testing.h"
#include "passes/custom_types.h"

namespace atc::passes {
namespace {

using custom_test::LibrarySource;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

LibrarySource op(const std::string& type, std::vector<std::string> inputs,
                 std::vector<std::string> attrs = {"ATC_ATTR_FLOAT epsilon"}) {
  LibrarySource source;
  source.type = type;
  source.inputs = std::move(inputs);
  source.more_attrs = std::move(attrs);
  return source;
}

/// x / Sqrt(ReduceMean(x * x) + e) * g over `axes` of [2,3,8], x being %1.
std::string written_out(const std::string& axes, const std::string& mean, const std::string& gamma,
                        const std::string& outputs = "%9") {
  return air("%0 \"a\": f32[2,3,8], %2 \"b\": f32[2,3,8]", outputs,
             "  %3 \"g\" = const f32[" + gamma +
                 "] splat 0.5\n  %4 \"e\" = const f32[] splat 1e-05\n"
                 "  %1 = Add@14(%0, %2) : f32[2,3,8] name \"sum\" from \"sum\"\n"
                 "  %5 = Mul@14(%1, %1) : f32[2,3,8] name \"square\" from \"square\"\n"
                 "  %6 = ReduceMean@13(%5) {axes=[" +
                 axes + "]} : f32[" + mean + "]\n  %7 = Add@14(%6, %4) : f32[" + mean +
                 "]\n  %8 = Sqrt@13(%7) : f32[" + mean +
                 "]\n  %10 = Div@14(%1, %8) : f32[2,3,8]\n"
                 "  %9 \"y\" = Mul@14(%10, %3) : f32[2,3,8] name \"scaled\" from \"scaled\"\n");
}

TEST(CustomNorms, TakesWhatTheRecogniserFinds) {
  CustomLibraries custom({op("RmsNorm", {"x", "gamma"})});
  EXPECT_THAT(custom.run(custom_norms_pass(), written_out("2", "2,3,1", "8")),
              AllOf(HasSubstr("atc::Custom(%1, "), HasSubstr("epsilon=1e-05"), HasSubstr("Add@14(%0, %2)"),
                    Not(HasSubstr("Sqrt")), Not(HasSubstr("RMSNormalization"))));
  ASSERT_EQ(custom.takeover.taken.size(), 1U);
  const CustomTaken& taken = custom.takeover.taken[0];
  EXPECT_EQ(taken.pattern, "RmsNorm");
  EXPECT_EQ(taken.sources, (std::vector<std::string>{"square", "scaled"}));
}

TEST(CustomNorms, JoinsNormalizedAxesAndFillsTheScale) {
  CustomLibraries custom({op("RmsNorm", {"x", "gamma"})});
  EXPECT_THAT(custom.run(custom_norms_pass(), written_out("1, 2", "2,1,1", "")),
              AllOf(HasSubstr("f32[2,24]"), HasSubstr("Expand"), HasSubstr("f32[24]")));
}

TEST(CustomNorms, LeavesOtherAxesAlone) {
  CustomLibraries custom({op("RmsNorm", {"x", "gamma"})});
  EXPECT_THAT(custom.run(custom_norms_pass(), written_out("0", "1,3,8", "8")), Not(HasSubstr("Custom")));
}

TEST(CustomNorms, SaysWhatTheOperatorLacks) {
  CustomLibraries without({op("RmsNorm", {"x", "gamma"}, {})});
  EXPECT_THAT(without.run(custom_norms_pass(), written_out("2", "2,3,1", "8")), Not(HasSubstr("Custom")));
  EXPECT_THAT(without.reasons(), HasSubstr("RmsNorm has no attribute epsilon"));
  CustomLibraries narrow({op("RmsNorm", {"x"})});
  EXPECT_THAT(narrow.run(custom_norms_pass(), written_out("2", "2,3,1", "8")), Not(HasSubstr("Custom")));
  EXPECT_THAT(narrow.reasons(), HasSubstr("has 1 inputs, the subgraph gives 2"));
  CustomLibraries wide({op("RmsNorm", {"x", "gamma", "beta"})});
  EXPECT_THAT(wide.run(custom_norms_pass(), written_out("2", "2,3,1", "8")), Not(HasSubstr("Custom")));
  EXPECT_THAT(wide.reasons(), HasSubstr("needs an input 'beta'"));
}

TEST(CustomNorms, TakesTheSumInFront) {
  CustomLibraries custom({op("AddRmsNorm", {"x1", "x2", "gamma"})});
  EXPECT_THAT(custom.run(custom_norms_pass(), written_out("2", "2,3,1", "8")),
              AllOf(HasSubstr("atc::Custom(%0, %2, "), Not(HasSubstr("Add@14"))));
  EXPECT_EQ(custom.takeover.taken.at(0).sources, (std::vector<std::string>{"sum", "square", "scaled"}));
}

TEST(CustomNorms, GivesTheSumToOthersByTheOutputNamedX) {
  LibrarySource gives = op("AddRmsNorm", {"x1", "x2", "gamma"});
  gives.outputs = {"y", "rstd", "x"};
  CustomLibraries custom({gives});
  const std::string after = custom.run(custom_norms_pass(), written_out("2", "2,3,1", "8", "%9, %1"));
  EXPECT_THAT(after, AllOf(HasSubstr("atc::Custom(%0, %2, "), Not(HasSubstr("Add@14"))));
  EXPECT_EQ(custom.takeover.taken.size(), 1U);
  // Without that output the plain operator takes the norm behind the sum.
  CustomLibraries both({op("AddRmsNorm", {"x1", "x2", "gamma"}), op("RmsNorm", {"x", "gamma"})});
  EXPECT_THAT(both.run(custom_norms_pass(), written_out("2", "2,3,1", "8", "%9, %1")),
              AllOf(HasSubstr("Add@14(%0, %2)"), HasSubstr("atc_op=\"RmsNorm\"")));
  CustomLibraries neither({op("AddRmsNorm", {"x1", "x2", "gamma"})});
  EXPECT_THAT(neither.run(custom_norms_pass(), written_out("2", "2,3,1", "8", "%9, %1")),
              Not(HasSubstr("Custom")));
  EXPECT_THAT(neither.reasons(), HasSubstr("has no output 'x'"));
}

TEST(CustomNorms, LayerNormGetsABias) {
  CustomLibraries custom(
      {op("LayerNorm", {"x", "gamma", "beta"}, {"ATC_ATTR_FLOAT epsilon", "ATC_ATTR_INT begin_norm_axis"})});
  const std::string norm = air("%0 \"x\": f32[2,8], %1 \"g\": f32[8]", "%2",
                               "  %2 \"y\" = LayerNormalization@17(%0, %1) {axis=-1} : f32[2,8]\n");
  EXPECT_THAT(custom.run(custom_norms_pass(), norm),
              AllOf(HasSubstr("const f32[8] splat 0"), HasSubstr("atc::Custom(%0, %1, "),
                    HasSubstr("begin_norm_axis=-1"), HasSubstr("epsilon=1e-05")));
  const std::string reads = air("%0 \"x\": f32[2,8], %1 \"g\": f32[8]", "%2, %3",
                                "  %2 \"y\", %3 \"m\" = LayerNormalization@17(%0, %1) {axis=-1} : "
                                "f32[2,8], f32[2,1]\n");
  EXPECT_THAT(custom.run(custom_norms_pass(), reads), HasSubstr("LayerNormalization@17"));
  EXPECT_THAT(custom.reasons(), HasSubstr("its statistics are read"));
}

TEST(CustomNorms, GeluByItsForm) {
  const auto gelu = [](const std::string& attrs) {
    return air("%0 \"x\": f32[2,8]", "%1", "  %1 \"y\" = Gelu@20(%0)" + attrs + " : f32[2,8]\n");
  };
  CustomLibraries plain({op("Gelu", {"x"}, {})});
  EXPECT_THAT(plain.run(custom_norms_pass(), gelu("")), HasSubstr("atc::Custom(%0)"));
  EXPECT_THAT(plain.run(custom_norms_pass(), gelu(" {approximate=\"tanh\"}")), HasSubstr("Gelu@20"));
  EXPECT_THAT(plain.reasons(), HasSubstr("no attribute approximate"));
  CustomLibraries both({op("Gelu", {"x"}, {"ATC_ATTR_STRING approximate"})});
  EXPECT_THAT(both.run(custom_norms_pass(), gelu(" {approximate=\"tanh\"}")),
              AllOf(HasSubstr("atc::Custom(%0)"), HasSubstr("approximate=\"tanh\"")));
}

TEST(CustomNorms, RefusesAnOperatorThatGivesAnotherShape) {
  LibrarySource other = op("RmsNorm", {"x", "gamma"});
  other.infer = "outputs[0].rank = 1; outputs[0].dims[0] = 5; return 0;";
  CustomLibraries custom({other});
  EXPECT_THAT(custom.run(custom_norms_pass(), written_out("2", "2,3,1", "8")),
              AllOf(HasSubstr("E89999"), HasSubstr("gives [5]"), HasSubstr("[2,3,8]")));
}

TEST(CustomTypes, CastsToWhatTheLibraryHas) {
  LibrarySource half;
  half.dtypes = "ATC_DT_FLOAT16";
  CustomLibraries custom({half});
  const auto graph = graph_of(air("%0 \"x\": f32[2,3]", "%1", "  %1 \"y\" = Twice@1(%0) : f32[2,3]\n"));
  ASSERT_TRUE(take_custom_nodes(*graph, custom.takeover.operators, *custom.context.options.chip,
                                custom.takeover.taken)
                  .ok());
  const auto casts = custom_types_pass().run(*graph, custom.context);
  ASSERT_TRUE(casts.ok()) << casts.status().to_string();
  EXPECT_EQ(*casts, 2);
  EXPECT_EQ(graph->outputs()[0]->name(), "y");
  EXPECT_EQ(graph->outputs()[0]->type.dtype, DType::F32);
  EXPECT_EQ(ir::verify(*graph), "");
  EXPECT_EQ(*custom_types_pass().run(*graph, custom.context), 0) << "a second run changes nothing";
}

}  // namespace
}  // namespace atc::passes
