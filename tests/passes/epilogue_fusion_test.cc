#include "passes/epilogue_fusion.h"

#include "pass_testing.h"
#include "passes/cube_form.h"
#include "passes/vector_fusion.h"

namespace atc::passes {
namespace {

std::unique_ptr<ir::Graph> formed(std::string_view text) {
  auto graph = graph_of(text);
  PassContext context;
  EXPECT_TRUE(cube_form_pass().run(*graph, context).ok());
  EXPECT_TRUE(vector_fusion_pass().run(*graph, context).ok());
  return graph;
}

/// "Conv{Add+Relu}; Fused{Tanh}" of an ONNX graph after the three passes; others by their type.
std::string tasks(std::string_view text) {
  const auto graph = graph_of(run_pass(epilogue_fusion_pass(), ir::print(*formed(text))));
  std::string out;
  for (const auto& n : graph->nodes()) {
    out += (out.empty() ? "" : "; ") + n->op_type;
    auto body = n->attrs.get_graph("epilogue");
    if (body == nullptr) body = n->attrs.get_graph("body");
    if (body == nullptr) continue;
    std::string ops;
    for (const auto& inner : body->nodes()) ops += (ops.empty() ? "" : "+") + inner->op_type;
    out += "{" + ops + "}";
    if (n->outputs().size() > 1) out += "x" + std::to_string(n->outputs().size());
  }
  return out;
}

TEST(EpilogueFusion, AProgramBehindAProductBecomesItsEpilogue) {
  expect_rewrite(
      epilogue_fusion_pass(),
      air("%0 \"a\": f32[2,4], %1 \"b\": f32[4,3], %2 \"r\": f32[3]", "%4",
          "  %3 = atc::MatMul(%0, %1) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,3]) -> (%0) {\n"
          "  }} : f32[2,3] name \"m\" from \"m\"\n"
          "  %4 \"y\" = atc::Fused(%2, %3) {body=graph \"body\"(%0 \"r\": f32[3], %1 \"t\": f32[2,3]) -> "
          "(%2) {\n"
          "    %2 \"y\" = Add@14(%0, %1) : f32[2,3] name \"a\" from \"a\"\n"
          "  }} : f32[2,3] name \"a\" from \"a\"\n"),
      air("%0 \"a\": f32[2,4], %1 \"b\": f32[4,3], %2 \"r\": f32[3]", "%5",
          "  %5 \"y\" = atc::MatMul(%0, %1, %2) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,3], %1 \"r\": "
          "f32[3]) -> (%2) {\n"
          "    %2 \"y\" = Add@14(%1, %0) : f32[2,3] name \"a\" from \"a\"\n"
          "  }} : f32[2,3] name \"m\" from \"m\", \"a\"\n"));
}

TEST(EpilogueFusion, CountsByTheNamesThatUsersKnow) {
  const auto graph = formed(air("%0 \"x\": f32[1,4,5]", "%4",
                                "  %1 = const f32[6,4,1] splat 0.5\n"
                                "  %2 = Conv@11(%0, %1) : f32[1,6,5]\n  %3 = Relu@14(%2) : f32[1,6,5]\n"
                                "  %4 \"y\" = ReduceMax@13(%3) {axes=[2]} : f32[1,6,1]\n"));
  PassContext context;
  ASSERT_TRUE(epilogue_fusion_pass().run(*graph, context).ok());
  const FusionCount count = context.fusions.ub_fusion().at("TbeConv2DElemwiseFusionPass");
  EXPECT_EQ(count.match_times, 1);
  EXPECT_EQ(count.effect_times, 0);  // the program reduces
}

struct Tasks {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* body;
  const char* expected;
};

class EpilogueFusionTasks : public testing::TestWithParam<Tasks> {};
TEST_P(EpilogueFusionTasks, Are) {
  const Tasks& t = GetParam();
  EXPECT_EQ(tasks(air(t.inputs, t.outputs, t.body)), t.expected);
}

constexpr const char* kX = "%0 \"x\": f32[1,4,5]";
// %1: weights of six channels, %2: the accumulator f32[1,6,5].
#define CONV "  %1 = const f32[6,4,1] splat 0.5\n  %2 \"acc\" = Conv@11(%0, %1) : f32[1,6,5]\n"
INSTANTIATE_TEST_SUITE_P(
    Rules, EpilogueFusionTasks,
    testing::Values(
        Tasks{"convolution", kX, "%3", CONV "  %3 \"y\" = Relu@14(%2) : f32[1,6,5]\n", "Conv{Relu}"},
        Tasks{
            "pool", kX, "%3",
            "  %2 = MaxPool@12(%0) {kernel_shape=[2]} : f32[1,4,4]\n  %3 \"y\" = Relu@14(%2) : f32[1,4,4]\n",
            "MaxPool{Relu}"},
        Tasks{"accumulator_is_an_output", kX, "%3, %2", CONV "  %3 \"y\" = Relu@14(%2) : f32[1,6,5]\n",
              "Conv{Relu}x2"},
        Tasks{"accumulator_has_other_readers", kX, "%3, %4",
              CONV "  %3 \"y\" = Relu@14(%2) : f32[1,6,5]\n  %4 \"z\" = Transpose@13(%2) {perm=[2,1,0]} : "
                   "f32[5,6,1]\n",
              "Conv{Relu}x2; Transpose"},
        Tasks{"two_programs", kX, "%3, %4",
              CONV "  %3 \"y\" = Relu@14(%2) : f32[1,6,5]\n  %4 \"z\" = Tanh@13(%2) : f32[1,6,5]\n",
              "Conv{Relu+Tanh}x2"},
        // The first reader reduces; the second is absorbed all the same.
        Tasks{
            "second_reader", kX, "%3, %4",
            CONV
            "  %3 \"y\" = ReduceMax@13(%2) {axes=[2]} : f32[1,6,1]\n  %4 \"z\" = Tanh@13(%2) : f32[1,6,5]\n",
            "Conv{Tanh}x2; Fused{ReduceMax}"},
        Tasks{"per_channel", "%0 \"x\": f32[1,4,5], %9 \"s\": f32[6,1]", "%3",
              CONV "  %3 \"y\" = Mul@14(%2, %9) : f32[1,6,5]\n", "Conv{Mul}"},
        Tasks{"single_value", "%0 \"x\": f32[1,4,5], %9 \"s\": f32[1]", "%3",
              CONV "  %3 \"y\" = Mul@14(%2, %9) : f32[1,6,5]\n", "Conv{Mul}"},
        Tasks{"per_position", "%0 \"x\": f32[1,4,5], %9 \"s\": f32[5]", "%3",
              CONV "  %3 \"y\" = Mul@14(%2, %9) : f32[1,6,5]\n", "Conv{}; Fused{Mul}"},
        Tasks{"product_per_row", "%0 \"x\": f32[3,4], %1 \"b\": f32[4,6], %9 \"s\": f32[3,1]", "%3",
              "  %2 = MatMul@13(%0, %1) : f32[3,6]\n  %3 \"y\" = Mul@14(%2, %9) : f32[3,6]\n", "MatMul{Mul}"},
        Tasks{"spread_accumulator", "%0 \"x\": f32[1,4,5], %9 \"s\": f32[2,6,5]", "%3",
              CONV "  %3 \"y\" = Mul@14(%2, %9) : f32[2,6,5]\n", "Conv{}; Fused{Mul}"},
        Tasks{"reduction", kX, "%3", CONV "  %3 \"y\" = ReduceMax@13(%2) {axes=[2]} : f32[1,6,1]\n",
              "Conv{}; Fused{ReduceMax}"},
        // Blocks of bytes have 32 channels, two panels of the accumulator.
        Tasks{"bytes_of_channels", kX, "%3", CONV "  %3 \"y\" = Cast@13(%2) {to=2} : u8[1,6,5]\n",
              "Conv{Cast}"},
        Tasks{"conditions", kX, "%3", CONV "  %3 \"y\" = Greater@13(%2, %2) : bool[1,6,5]\n",
              "Conv{Greater}"},
        Tasks{"bytes_of_a_product", "%0 \"x\": f32[3,4], %1 \"b\": f32[4,6]", "%3",
              "  %2 = MatMul@13(%0, %1) : f32[3,6]\n  %3 \"y\" = Cast@13(%2) {to=2} : u8[3,6]\n",
              "MatMul{Cast}"},
        // The sum waits for the second convolution, which waits for the first.
        Tasks{"residual", "%0 \"x\": f32[1,4,5]", "%4",
              "  %1 = const f32[4,4,1] splat 0.5\n"
              "  %2 = Conv@11(%0, %1) : f32[1,4,5]\n  %3 = Conv@11(%2, %1) : f32[1,4,5]\n  %4 \"y\" = "
              "Add@14(%2, %3) : f32[1,4,5]\n",
              "Conv{}; Conv{Add}"},
        Tasks{
            "needs_the_accumulator_twice", kX, "%4",
            CONV
            "  %3 = Transpose@13(%2) {perm=[0,1,2]} : f32[1,6,5]\n  %4 \"y\" = Add@14(%2, %3) : f32[1,6,5]\n",
            "Conv{}; Transpose; Fused{Add}"},
        Tasks{"nothing_behind", kX, "%2", CONV, "Conv{}"}),
    [](const auto& tested) { return std::string(tested.param.name); });
#undef CONV

TEST(EpilogueFusion, AnEpilogueHoldsOnlySoManyOperands) {
  // The accumulator and so many inputs are what a program may read; as an epilogue with two outputs it is one
  // too many.
  std::string inputs = "%0 \"x\": f32[3,4], %1 \"b\": f32[4,6]",
              body = "  %2 \"acc\" = MatMul@13(%0, %1) : f32[3,6]\n";
  int last = 2;
  for (int i = 0; i < static_cast<int>(kMaxProgramOperands) - 2; ++i) {
    inputs += ", %" + std::to_string(50 + i) + " \"s" + std::to_string(i) + "\": f32[6]";
    body += "  %" + std::to_string(3 + i) + " = Add@14(%" + std::to_string(last) + ", %" +
            std::to_string(50 + i) + ") : f32[3,6]\n";
    last = 3 + i;
  }
  const std::string out = "%" + std::to_string(last);
  EXPECT_THAT(tasks(air(inputs, out, body)), testing::Not(testing::HasSubstr("Fused")));
  EXPECT_THAT(tasks(air(inputs, out + ", %2", body)), testing::Not(testing::HasSubstr("Fused")));
  inputs += ", %99 \"t\": f32[6]";
  body += "  %98 \"more\" = Mul@14(%2, %99) : f32[3,6]\n";
  EXPECT_THAT(tasks(air(inputs, out + ", %98", body)), testing::HasSubstr("; Fused{"));
}

}  // namespace
}  // namespace atc::passes
