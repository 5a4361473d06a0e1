#include "passes/precision.h"

#include <cstring>

#include "pass_testing.h"

namespace atc::passes {
namespace {

// run_pass uses the default, Precision::Fp16.

TEST(Precision, WhatGoesThroughMemoryIsNarrow) {
  expect_rewrite(
      precision_pass(),
      air("%0 \"x\": f32[2,4]", "%5",
          "  %1 \"w\" = const f32[4,2] {0.5,1.0,1.5,2.0,2.5,3.0,3.5,1.0e6}\n"
          "  %2 = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%1) {\n"
          "    %1 = Relu@14(%0) : f32[2,4]\n"
          "  }} : f32[2,4]\n"
          "  %5 \"y\" = atc::MatMul(%2, %1) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,2]) -> (%0) {\n"
          "  }} : f32[2,2]\n"),
      // The weight beyond fp16's range is clipped; the output of the model stays fp32.
      air("%0 \"x\": f32[2,4]", "%5",
          "  %1 \"w\" = const f32[4,2] {0.5,1.0,1.5,2.0,2.5,3.0,3.5,1e+06}\n"
          "  %6 \"w\" = const f16[4,2] {0.5,1.0,1.5,2.0,2.5,3.0,3.5,65504.0}\n"
          "  %2 = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%1) {\n"
          "    %1 = Relu@14(%0) : f32[2,4]\n"
          "  }} : f16[2,4]\n"
          "  %5 \"y\" = atc::MatMul(%2, %6) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,2]) -> (%0) {\n"
          "  }} : f32[2,2]\n"));
}

constexpr const char* kFusedRelu =
    " = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%1) {\n    %1 = Relu@14(%0) : f32[2,4]\n "
    " }} : f32[2,4]\n";

/// The printed result for input %0 f32[2,4], %1 a vector program on it, then `body` with output %9.
std::string after(const std::string& body, const std::string& inputs = "%0 \"x\": f32[2,4]") {
  return run_pass(precision_pass(), air(inputs, "%9", std::string("  %1") + kFusedRelu + body));
}

TEST(Precision, ACubeOperandThatIsAnInputGoesThroughACast) {
  const std::string text = run_pass(
      precision_pass(),
      air("%0 \"x\": f32[2,4], %1 \"z\": f32[4,2]", "%9",
          "  %9 \"y\" = atc::MatMul(%0, %1) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,2]) -> (%0) {\n"
          "  }} : f32[2,2]\n"));
  EXPECT_THAT(text, testing::HasSubstr("Cast@13(%0) {to=10} : f16[2,4]"));
  EXPECT_THAT(text, testing::HasSubstr("Cast@13(%0) {to=10} : f16[4,2]"));
}

TEST(Precision, MoversCarryTheirData) {
  EXPECT_THAT(after("  %2 = Transpose@13(%1) : f32[4,2]\n  %9 \"y\" = Identity@13(%2) : f32[4,2]\n"),
              testing::HasSubstr("Transpose@13(%1) : f16[4,2]"));
  // A concatenation has one type: its other operands are cast.
  EXPECT_THAT(after("  %2 = Concat@13(%1, %0) {axis=0} : f32[4,4]\n  %9 \"y\" = Relu@14(%2) : f32[4,4]\n"),
              testing::HasSubstr("Concat@13(%1, %10) {axis=0} : f16[4,4]"));
  // Of inputs alone, nothing is narrow.
  EXPECT_THAT(
      after("  %2 = Transpose@13(%0) : f32[4,2]\n  %9 \"y\" = Concat@13(%2, %2) {axis=0} : f32[8,2]\n"),
      testing::HasSubstr("Transpose@13(%0) : f32[4,2]"));
}

TEST(Precision, WhatIsQuantizedNextIsNotRoundedBefore) {
  const std::string quantize =
      " = atc::Fused(%2) {body=graph \"body\"(%0 \"x\": f32[4,2]) -> (%2) {\n"
      "    %1 \"s\" = const f32[] {0.5}\n"
      "    %2 = QuantizeLinear@13(%0, %1) : u8[4,2]\n  }} : u8[4,2]\n";
  // Through the data movement in between, too.
  const std::string text = after("  %2 = Transpose@13(%1) : f32[4,2]\n  %9 \"y\"" + quantize);
  EXPECT_THAT(text, testing::HasSubstr("Transpose@13(%1) : f32[4,2]"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("f16")));
}

TEST(Precision, ATableIsNarrowUnlessItsRowsAreQuantizedNext) {
  const auto rows_read_by = [](const std::string& program) {
    return run_pass(
        precision_pass(),
        air("%0 \"i\": i64[2]", "%9",
            "  %1 \"table\" = const f32[8,4] splat 0.1\n  %2 = Gather@13(%1, %0) : f32[2,4]\n" + program));
  };
  EXPECT_THAT(rows_read_by("  %9 \"y\" = atc::Fused(%2) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%1) {\n"
                           "    %1 = Relu@14(%0) : f32[2,4]\n  }} : f32[2,4]\n"),
              testing::HasSubstr("const f16[8,4]"));
  EXPECT_THAT(rows_read_by("  %9 \"y\" = atc::Fused(%2) {body=graph \"body\"(%0 \"x\": f32[2,4]) -> (%2) {\n"
                           "    %1 \"s\" = const f32[] {0.5}\n"
                           "    %2 = QuantizeLinear@13(%0, %1) : u8[2,4]\n  }} : u8[2,4]\n"),
              testing::Not(testing::HasSubstr("f16")));
}

TEST(Precision, ALargeConstantOfAQuantizingProgramStaysFp32) {
  const auto constant_in = [](const std::string& last, const std::string& type) {
    return run_pass(
        precision_pass(),
        air("%0 \"x\": f32[65,64]", "%9",
            "  %1 \"c\" = const f32[65,64] splat 0.1\n"
            "  %9 \"y\" = atc::Fused(%0, %1) {body=graph \"body\"(%0 \"x\": f32[65,64], %1 \"c\": "
            "f32[65,64]) -> (%4) {\n"
            "    %2 \"s\" = const f32[] {0.5}\n"
            "    %3 = Add@14(%0, %1) : f32[65,64]\n    %4 = " +
                last + " : " + type + "[65,64]\n  }} : " + type + "[65,64]\n"));
  };
  EXPECT_THAT(constant_in("Mul@14(%3, %2)", "f32"), testing::HasSubstr("const f16[65,64]"));
  EXPECT_THAT(constant_in("QuantizeLinear@13(%3, %2)", "u8"), testing::Not(testing::HasSubstr("f16")));
}

TEST(Precision, AMoversOutputOfTheModelIsRestored) {
  const std::string text = after("  %9 \"y\" = Transpose@13(%1) : f32[4,2]\n");
  EXPECT_THAT(text, testing::HasSubstr("%9 \"y/narrow\" = Transpose@13(%1) : f16[4,2]"));
  EXPECT_THAT(text, testing::HasSubstr("%10 \"y\" = atc::Fused(%9)"));
  EXPECT_THAT(text, testing::HasSubstr("-> (%10)"));
}

TEST(Precision, OperatorsOnTheCpuReadFp32) {
  const std::string text = after("  %9 \"y\" = Det@11(%1) : f32[]\n");
  EXPECT_THAT(text, testing::HasSubstr("%1 = atc::Fused(%0)"));
  EXPECT_THAT(text, testing::HasSubstr("Cast@13(%0) {to=1} : f32[2,4]"));
  EXPECT_THAT(text, testing::HasSubstr("Det@11(%10)"));
}

TEST(Precision, IslandsStayFp32) {
  const std::string text = run_pass(
      precision_pass(), air("%0 \"x\": f32[2]", "%9",
                            "  %1 = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2]) -> (%1) {\n"
                            "    %1 = Exp@13(%0) : f32[2]\n"
                            "  }} : f32[2]\n"
                            "  %9 \"y\" = Identity@13(%1) : f32[2]\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("f16")));
  EXPECT_NE(fp32_reason("Exp"), "");
  EXPECT_EQ(fp32_reason("Relu"), "");
}

TEST(Precision, WhatTheCompilerDecidesIsRecorded) {
  const auto graph = graph_of(
      air("%0 \"x\": f32[2,2]", "%9",
          "  %1 \"w\" = const f32[2,2] {0.5,1.0e6,-1.0e6,2.0}\n"
          "  %2 \"k\" = const f32[5000] splat 1e6\n"
          "  %3 \"e\" = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,2]) -> (%1) {\n"
          "    %1 = Exp@13(%0) : f32[2,2]\n"
          "  }} : f32[2,2] from \"exp_node\"\n"
          "  %4 \"m\" = atc::MatMul(%3, %1) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,2]) -> (%0) {\n"
          "  }} : f32[2,2]\n"
          "  %5 \"s\" = atc::Fused(%2) {body=graph \"body\"(%0 \"k\": f32[5000]) -> (%1) {\n"
          "    %1 = Relu@14(%0) : f32[5000]\n"
          "  }} : f32[5000]\n"
          "  %6 \"i\" = Identity@13(%5) : f32[5000]\n"
          "  %9 \"y\" = Identity@13(%4) : f32[2,2]\n"));
  PassContext context;
  ASSERT_TRUE(precision_pass().run(*graph, context).ok());
  const auto& changes = context.precision.changes;
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].kind, PrecisionChange::Kind::KeptF32);
  EXPECT_EQ(changes[0].value, "e");
  EXPECT_EQ(changes[0].op_type, "Exp");
  EXPECT_EQ(changes[0].reason, fp32_reason("Exp"));
  EXPECT_EQ(changes[1].kind, PrecisionChange::Kind::Clipped);
  EXPECT_EQ(changes[1].value, "w");
  EXPECT_THAT(changes[1].reason, testing::HasSubstr("2 of 4 elements"));
  EXPECT_EQ(changes[2].kind, PrecisionChange::Kind::KeptF32);
  EXPECT_EQ(changes[2].value, "k");
  EXPECT_EQ(context.precision.narrowed_constants, 1);
  EXPECT_GE(context.precision.narrowed_values, 1);
  EXPECT_GE(context.precision.casts, 1);
}

// A constant of the model may be a view of the file at any address.
TEST(Precision, ConstantsAtAnyAddressAreConverted) {
  const auto graph = graph_of(
      air("%0 \"x\": f32[1,2]", "%9",
          "  %1 \"w\" = const f32[2,1] {0.5,-3.0}\n"
          "  %9 \"y\" = atc::MatMul(%0, %1) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[1,1]) -> (%0) {\n"
          "  }} : f32[1,1]\n"));
  const ir::Node& product = *graph->nodes().front();
  MutableBytes file(9);
  std::memcpy(file.data() + 1, product.input(1)->constant().data.data(), 8);
  Tensor view = product.input(1)->constant();
  view.data = std::move(file).freeze().subspan(1, 8);
  ir::Node& node = *graph->node_list().front();
  node.set_input(1, graph->add_constant("view", view));
  PassContext context;
  ASSERT_TRUE(precision_pass().run(*graph, context).ok());
  const Tensor& narrow = graph->outputs()[0]->producer()->input(1)->constant();
  EXPECT_EQ(narrow.dtype, DType::F16);
  EXPECT_THAT(to_doubles(narrow), testing::ElementsAre(0.5, -3.0));
}

std::string program_with_constant(const std::string& constant) {
  return air("%0 \"x\": f32[5000]", "%9",
             "  %1 \"k\" = const " + constant +
                 "\n"
                 "  %9 \"y\" = atc::Fused(%0, %1) {body=graph \"body\"(%0 \"x\": f32[5000], %1 \"k\": "
                 "f32[5000]) -> (%2) {\n"
                 "    %2 = Add@14(%0, %1) : f32[5000]\n"
                 "  }} : f32[5000]\n");
}

TEST(Precision, LargeConstantsOfProgramsAreNarrowWhereTheyFit) {
  EXPECT_THAT(run_pass(precision_pass(), program_with_constant("f32[5000] splat 0.5")),
              testing::HasSubstr("const f16[5000] splat 0.5"));
  expect_unchanged(precision_pass(), program_with_constant("f32[5000] splat 1e+06"));
  expect_unchanged(precision_pass(), program_with_constant("f32[1] {0.5}"));
}

TEST(Precision, TablesOfGatherAreNarrow) {
  const std::string text = run_pass(precision_pass(), air("%0 \"i\": i64[3]", "%9",
                                                          "  %1 \"t\" = const f32[8,2] splat 0.5\n"
                                                          "  %2 = Gather@13(%1, %0) : f32[3,2]\n"
                                                          "  %9 \"y\" = Transpose@13(%2) : f32[2,3]\n"));
  EXPECT_THAT(text, testing::HasSubstr("const f16[8,2] splat 0.5"));
  EXPECT_THAT(text, testing::HasSubstr(": f16[3,2]"));
}

TEST(Precision, OtherTypesAreNotTouched) {
  expect_unchanged(precision_pass(), air("%0 \"x\": f64[2,4], %1 \"n\": i32[4]", "%3, %4",
                                         "  %2 = Transpose@13(%0) : f64[4,2]\n"
                                         "  %3 \"y\" = Transpose@13(%2) : f64[2,4]\n"
                                         "  %4 \"z\" = Concat@13(%1, %1) {axis=0} : i32[8]\n"));
}

/// The graph, a product and a program on it with a sum behind, in another mode.
std::string in_mode(Precision precision, std::string_view soc) {
  const auto graph = graph_of(
      air("%0 \"x\": f32[2,2]", "%9",
          "  %1 \"w\" = const f32[2,2] {0.5,1.0,-1.0,2.0}\n"
          "  %2 \"pre\" = atc::Fused(%0) {body=graph \"body\"(%0 \"x\": f32[2,2]) -> (%1) {\n"
          "    %1 = Relu@14(%0) : f32[2,2]\n"
          "  }} : f32[2,2]\n"
          "  %3 \"m\" = atc::MatMul(%2, %1) {epilogue=graph \"epilogue\"(%0 \"acc\": f32[2,2]) -> (%0) {\n"
          "  }} : f32[2,2]\n"
          "  %4 \"post\" = atc::Fused(%3) {body=graph \"body\"(%0 \"m\": f32[2,2]) -> (%1) {\n"
          "    %1 = Relu@14(%0) : f32[2,2]\n"
          "  }} : f32[2,2]\n"
          "  %5 \"sum\" = atc::Fused(%4) {body=graph \"body\"(%0 \"p\": f32[2,2]) -> (%1) {\n"
          "    %1 = ReduceMean@13(%0) {axes=[1]} : f32[2,1]\n"
          "  }} : f32[2,1]\n"
          "  %9 \"y\" = Identity@13(%5) : f32[2,1]\n"));
  PassContext context;
  context.options.precision = precision;
  context.options.chip = *soc::find_chip(soc);
  EXPECT_TRUE(precision_pass().run(*graph, context).ok());
  EXPECT_EQ(ir::verify(*graph), "");
  std::string types;
  for (const char* name : {"pre", "m", "post", "sum"})
    for (const ir::Value* v : graph->values())
      if (v->name() == name) types += std::string(atc::name(v->type.dtype)) + " ";
  for (const auto& n : graph->nodes())
    if (n->is_internal("MatMul")) types += "x " + std::string(atc::name(n->input(1)->type.dtype));
  return types;
}

TEST(Precision, ModesDifferInWhatTheyNarrow) {
  EXPECT_EQ(in_mode(Precision::Origin, "Ascend910B3"), in_mode(Precision::AllowFp32ToFp16, "Ascend910B3"));
  const std::string f32(name(DType::F32)), f16(name(DType::F16)), bf16(name(DType::BF16));
  const auto row = [](std::initializer_list<std::string> types, const std::string& weight) {
    std::string out;
    for (const std::string& t : types) out += t + " ";
    return out + "x " + weight;
  };
  EXPECT_EQ(in_mode(Precision::Origin, "Ascend310P3"), row({f32, f32, f32, f32}, f32));
  EXPECT_EQ(in_mode(Precision::AllowFp32ToFp16, "Ascend310P3"), row({f32, f32, f32, f32}, f16));
  EXPECT_EQ(in_mode(Precision::Fp32, "Ascend910B3"), row({f32, f32, f32, f32}, f16));
  EXPECT_EQ(in_mode(Precision::Fp16, "Ascend910B3"), row({f16, f16, f16, f16}, f16));
  EXPECT_EQ(in_mode(Precision::MixedFloat16, "Ascend910B3"), row({f32, f16, f16, f32}, f16));
  EXPECT_EQ(in_mode(Precision::MixedBfloat16, "Ascend910B3"), row({f32, bf16, bf16, f32}, bf16));
}

TEST(Precision, TheModesThatKeepTypesChangeNothing) {
  for (const Precision precision : {Precision::Origin, Precision::Fp32, Precision::AllowFp32ToFp16}) {
    const auto graph =
        graph_of(air("%0 \"x\": f32[2,4]", "%9",
                     std::string("  %1") + kFusedRelu + "  %9 \"y\" = Identity@13(%1) : f32[2,4]\n"));
    const std::string before = ir::print(*graph);
    PassContext context;
    context.options.precision = precision;
    EXPECT_EQ(precision_pass().run(*graph, context).value(), 0);
    EXPECT_EQ(ir::print(*graph), before);
  }
}

// X, W and R feed the cube; sequence outputs are stored narrow, the cell state of LSTM is not.
TEST(Precision, RecurrentNodesMultiplyNarrowOperands) {
  const auto lstm = [](const std::string& dtype) {
    const std::string t = dtype;
    return run_pass(
        precision_pass(),
        air("%0 \"x\": " + t + "[4,1,2], %1 \"w\": " + t + "[1,8,2], %2 \"r\": " + t + "[1,8,2]", "%6, %7",
            "  %3, %4, %5 = LSTM@14(%0, %1, %2) {hidden_size=2} : " + t + "[4,1,1,2], " + t + "[1,1,2], " +
                t + "[1,1,2]\n  %6 = Identity@14(%3) : " + t + "[4,1,1,2]\n  %7 = Identity@14(%5) : " + t +
                "[1,1,2]\n"));
  };
  const std::string text = lstm("f32");
  EXPECT_THAT(text, testing::HasSubstr("} : f16[4,1,1,2], f16[1,1,2], f32[1,1,2]"));
  for (const char* input : {"Cast@13(%0) {to=10} : f16[4,1,2]", "Cast@13(%0) {to=10} : f16[1,8,2]"})
    EXPECT_THAT(text, testing::HasSubstr(input));
  // What runs on the AI CPU keeps its type.
  EXPECT_THAT(lstm("f64"), testing::Not(testing::HasSubstr("f16")));
}

}  // namespace
}  // namespace atc::passes
