#include "passes/vector_fusion.h"

#include <algorithm>

#include "pass_testing.h"

namespace atc::passes {
namespace {

/// "Mul+Add; Tanh": the operators of each program of the fused graph, in order; other nodes as "<Conv>".
std::string programs(std::string_view text) {
  const auto graph = graph_of(run_pass(vector_fusion_pass(), text));
  std::string out;
  for (const auto& n : graph->nodes()) {
    out += out.empty() ? "" : "; ";
    if (!n->is_internal("Fused")) {
      out += "<" + n->op_type + ">";
      continue;
    }
    std::string ops;
    for (const auto& inner : n->attrs.get_graph("body")->nodes())
      ops += (ops.empty() ? "" : "+") + inner->op_type;
    out += ops;
  }
  return out;
}

TEST(VectorFusion, AChainBecomesOneProgram) {
  expect_rewrite(vector_fusion_pass(),
                 air("%0 \"x\": f32[2,3], %1 \"s\": f32[3]", "%4",
                     "  %2 \"k\" = const f32[] {2.0}\n"
                     "  %3 \"t\" = Mul@14(%0, %1) : f32[2,3] name \"m\" from \"m\"\n"
                     "  %4 \"y\" = Add@14(%3, %2) : f32[2,3] name \"a\" from \"a\"\n"),
                 air("%0 \"x\": f32[2,3], %1 \"s\": f32[3]", "%5",
                     "  %2 \"k\" = const f32[] {2.0}\n"
                     "  %5 \"y\" = atc::Fused(%0, %1) {body=graph \"body\"(%0 \"x\": f32[2,3], %1 \"s\": "
                     "f32[3]) -> (%4) {\n"
                     "    %3 \"k\" = const f32[] {2.0}\n"
                     "    %2 \"t\" = Mul@14(%0, %1) : f32[2,3] name \"m\" from \"m\"\n"
                     "    %4 \"y\" = Add@14(%2, %3) : f32[2,3] name \"a\" from \"a\"\n"
                     "  }} : f32[2,3] name \"a\" from \"m\", \"a\"\n"));
}

TEST(VectorFusion, ANormalisationIsOneProgram) {
  const std::string text = air("%0 \"x\": f32[4,8]", "%4",
                               "  %1 = ReduceMean@13(%0) {axes=[1]} : f32[4,1]\n"
                               "  %2 = Sub@14(%0, %1) : f32[4,8]\n"
                               "  %3 = ReduceMax@13(%2) {axes=[1]} : f32[4,1]\n"
                               "  %4 \"y\" = Div@14(%2, %3) : f32[4,8]\n");
  EXPECT_EQ(programs(text), "ReduceMean+Sub+ReduceMax+Div");
  EXPECT_THAT(run_pass(vector_fusion_pass(), text), testing::HasSubstr("reduce_axes=[1]"));
}

TEST(VectorFusion, WhatOthersReadOrTheModelReturnsIsAnOutput) {
  const std::string after = run_pass(vector_fusion_pass(), air("%0 \"x\": f32[2,3]", "%2, %4, %1",
                                                               "  %1 \"a\" = Relu@14(%0) : f32[2,3]\n"
                                                               "  %2 \"b\" = Tanh@13(%1) : f32[2,3]\n"
                                                               "  %4 \"c\" = Transpose@13(%2) : f32[3,2]\n"));
  EXPECT_THAT(after, testing::HasSubstr("-> (%6, %4, %5)"));  // Relu+Tanh give b and a
  EXPECT_THAT(after, testing::HasSubstr("%5 \"a\", %6 \"b\" = "));
}

TEST(VectorFusion, CountsProgramsOfSeveralOperators) {
  const auto graph =
      graph_of(air("%0 \"x\": f32[2]", "%2, %4",
                   "  %1 = Relu@14(%0) : f32[2]\n  %2 \"y\" = Tanh@13(%1) : f32[2]\n"
                   "  %3 = Softmax@13(%0) {axis=0} : f32[2]\n  %4 \"z\" = Transpose@13(%3) : f32[2]\n"));
  PassContext context;
  ASSERT_TRUE(vector_fusion_pass().run(*graph, context).ok());
  EXPECT_EQ(context.fusions.ub_fusion().at("AutomaticUbFusion").effect_times, 1);
}

struct Groups {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* body;
  const char* expected;
};

class VectorFusionGroups : public testing::TestWithParam<Groups> {};
TEST_P(VectorFusionGroups, Programs) {
  const Groups& g = GetParam();
  EXPECT_EQ(programs(air(g.inputs, g.outputs, g.body)), g.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, VectorFusionGroups,
    testing::Values(
        Groups{"single", "%0 \"x\": f32[2]", "%1", "  %1 \"y\" = Relu@14(%0) : f32[2]\n", "Relu"},
        // Through the transposition the sum needs the product's result: one program would wait for itself.
        Groups{"cycle", "%0 \"x\": f32[3,3]", "%3",
               "  %1 = Relu@14(%0) : f32[3,3]\n"
               "  %2 = Transpose@13(%1) : f32[3,3]\n"
               "  %3 \"y\" = Add@14(%1, %2) : f32[3,3]\n",
               "Relu; <Transpose>; Add"},
        Groups{"cycle_through_a_group", "%0 \"x\": f32[3,3]", "%5",
               "  %1 = Relu@14(%0) : f32[3,3]\n"
               "  %2 = Transpose@13(%1) : f32[3,3]\n"
               "  %3 = Tanh@13(%2) : f32[3,3]\n"
               "  %4 = Transpose@13(%3) : f32[3,3]\n"
               "  %5 \"y\" = Add@14(%1, %4) : f32[3,3]\n",
               "Relu; <Transpose>; Tanh; <Transpose>; Add"},
        Groups{"side_branch", "%0 \"x\": f32[3,3]", "%3, %4",
               "  %1 = Relu@14(%0) : f32[3,3]\n"
               "  %2 = Transpose@13(%1) : f32[3,3]\n"
               "  %3 \"y\" = Exp@13(%1) : f32[3,3]\n"
               "  %4 \"z\" = Add@14(%2, %3) : f32[3,3]\n",
               "Relu+Exp; <Transpose>; Add"},
        Groups{"other_axes", "%0 \"x\": f32[4,8]", "%3",
               "  %1 = ReduceMean@13(%0) {axes=[1]} : f32[4,1]\n"
               "  %2 = Sub@14(%0, %1) : f32[4,8]\n"
               "  %3 \"y\" = ReduceMax@13(%2) {axes=[0]} : f32[1,8]\n",
               "ReduceMean+Sub; ReduceMax"},
        Groups{"axes_apart", "%0 \"x\": f32[4,2,8]", "%2",
               "  %1 = Relu@14(%0) : f32[4,2,8]\n  %2 \"y\" = ReduceMax@13(%1) {axes=[0,2]} : f32[1,2,1]\n",
               "Relu; <ReduceMax>"},
        Groups{
            "dropped_axes", "%0 \"x\": f32[4,8]", "%2",
            "  %1 = Relu@14(%0) : f32[4,8]\n  %2 \"y\" = ReduceMax@13(%1) {axes=[1], keepdims=0} : f32[4]\n",
            "Relu; <ReduceMax>"},
        // The result of Relu would be neither the whole space nor the reduced one.
        Groups{"narrow_output", "%0 \"x\": f32[1,8], %9 \"z\": f32[4,8]", "%1, %2",
               "  %1 \"a\" = Relu@14(%0) : f32[1,8]\n  %2 \"y\" = Add@14(%1, %9) : f32[4,8]\n", "Relu; Add"},
        Groups{"narrow_inside", "%0 \"x\": f32[1,8], %9 \"z\": f32[4,8]", "%2",
               "  %1 = Relu@14(%0) : f32[1,8]\n  %2 \"y\" = Add@14(%1, %9) : f32[4,8]\n", "Relu+Add"},
        // A reduction sees the whole space, not a part that is spread later.
        Groups{"reduction_before_spreading", "%0 \"x\": f32[1,8], %9 \"z\": f32[4,8]", "%2",
               "  %1 = ReduceMax@13(%0) {axes=[1]} : f32[1,1]\n  %2 \"y\" = Add@14(%1, %9) : f32[4,8]\n",
               "ReduceMax; Add"},
        // Over both axes the operand of one row would have to be walked twice.
        Groups{"operand_along_one_reduced_axis", "%0 \"x\": f32[4,8], %9 \"z\": f32[8]", "%2",
               "  %1 = Mul@14(%0, %9) : f32[4,8]\n  %2 \"y\" = ReduceMax@13(%1) {axes=[0,1]} : f32[1,1]\n",
               "Mul; ReduceMax"},
        Groups{"spaces_that_do_not_fit", "%0 \"x\": f32[6], %9 \"z\": f32[2,3]", "%4, %3",
               "  %8 = const i64[2] {2,3}\n"
               "  %1 = Relu@14(%0) : f32[6]\n  %2 = Reshape@14(%1, %8) : f32[2,3]\n"
               "  %3 \"a\" = Tanh@13(%1) : f32[6]\n  %4 \"y\" = Add@14(%2, %9) : f32[2,3]\n",
               "Relu+Tanh; <Reshape>; Add"},
        Groups{"open_shape", "%0 \"x\": f32[n,2]", "%1", "  %1 \"y\" = Relu@14(%0) : f32[n,2]\n", "<Relu>"},
        Groups{"empty", "%0 \"x\": f32[0,2]", "%1", "  %1 \"y\" = Relu@14(%0) : f32[0,2]\n", "<Relu>"},
        Groups{"double", "%0 \"x\": f64[2]", "%1", "  %1 \"y\" = Relu@14(%0) : f64[2]\n", "<Relu>"},
        Groups{"axes_not_constant", "%0 \"x\": f32[2,3], %9 \"a\": i64[1]", "%1",
               "  %1 \"y\" = ReduceSum@13(%0, %9) : f32[b,c]\n", "<ReduceSum>"}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// x0 + x1 + ... of `count` inputs, node after node.
std::string sum_of_inputs(int count) {
  std::string inputs = "%0 \"x0\": f32[2]", body;
  for (int i = 1; i < count; ++i) {
    inputs += ", %" + std::to_string(i) + " \"x" + std::to_string(i) + "\": f32[2]";
    const std::string before = i == 1 ? "0" : std::to_string(100 + i - 1);
    body +=
        "  %" + std::to_string(100 + i) + " = Add@14(%" + before + ", %" + std::to_string(i) + ") : f32[2]\n";
  }
  return air(inputs, "%" + std::to_string(100 + count - 1), body);
}

TEST(VectorFusion, AProgramHoldsOnlySoManyOperands) {
  const auto count = [](int inputs) {
    const std::string all = programs(sum_of_inputs(inputs));
    return std::count(all.begin(), all.end(), ';') + 1;
  };
  const int most = static_cast<int>(kMaxProgramOperands) - 1;  // and the result
  EXPECT_EQ(count(most), 1);
  EXPECT_EQ(count(most + 1), 2);
}

TEST(VectorFusion, AProgramHoldsOnlySoManyOperators) {
  std::string body;
  const int nodes = static_cast<int>(kMaxProgramNodes) + 1;
  for (int i = 0; i < nodes; ++i)
    body += "  %" + std::to_string(i + 1) + " = Relu@14(%" + std::to_string(i) + ") : f32[2]\n";
  const std::string all = programs(air("%0 \"x\": f32[2]", "%" + std::to_string(nodes), body));
  EXPECT_EQ(std::count(all.begin(), all.end(), ';'), 1);
}

TEST(VectorForm, ProgramsOfOneOperator) {
  const std::string body = "  %1 = Tanh@13(%0) : f32[2,4]\n  %2 \"y\" = Neg@13(%1) : f32[2,4]\n";
  int changes = 0;
  const std::string text = run_pass(vector_form_pass(), air("%0 \"x\": f32[2,4]", "%2", body), &changes);
  EXPECT_EQ(changes, 2);
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\n  %1 = Tanh")));
  // Behind vector fusion there is nothing left.
  expect_unchanged(vector_form_pass(), run_pass(vector_fusion_pass(), air("%0 \"x\": f32[2,4]", "%2", body)));
}

}  // namespace
}  // namespace atc::passes
