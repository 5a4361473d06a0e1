#include "driver/customized_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atc/ir/text.h"
#include "driver/precision_nodes.h"

namespace atc::driver {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As a model is imported. A product with a bias, TopK, a quantised Relu, two Gathers of which one reads
// integers, and a GELU written out.
constexpr const char* kModel = R"(air 1
graph "g"(%0 "x": f32[2,8]) -> (%9, %10, %11, %13, %14, %25) {
  %1 = const f32[8,8] splat 0.1
  %2 = const f32[8] splat 0.5
  %3 = const i64[1] {4}
  %4 = const f32[] {0.25}
  %5 = const i8[] {0}
  %6 = const i64[1] {0}
  %7 = Gemm@13(%0, %1, %2) : ?[*] name "fc" from "fc"
  %8, %9 = TopK@11(%7, %3) : ?[*], ?[*] name "top" from "top"
  %10 = Gather@13(%8, %6) : ?[*] name "values" from "values"
  %11 = Gather@13(%9, %6) : ?[*] name "places" from "places"
  %12 = Relu@14(%7) : ?[*] name "relu" from "relu"
  %13 = QuantizeLinear@13(%12, %4, %5) : ?[*] name "q" from "q"
  %14 = Cast@13(%7) {to=6} : ?[*] name "whole" from "whole"
  %17 = const f32[] {1.4142135}
  %18 = const f32[] {1.0}
  %19 = const f32[] {0.5}
  %20 = Div@14(%7, %17) : ?[*] name "d" from "d"
  %21 = Erf@13(%20) : ?[*] name "e" from "e"
  %22 = Add@14(%21, %18) : ?[*] name "a" from "a"
  %23 = Mul@14(%7, %22) : ?[*] name "m" from "m"
  %25 = Mul@14(%23, %19) : ?[*] name "last" from "last"
})";

StatusOr<passes::NodePrecisions> resolve(std::string_view text) {
  const auto graph = ir::parse(kModel);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  const auto entries = parse_customize_dtypes(text, "c.cfg", DType::F16);
  EXPECT_TRUE(entries.ok()) << entries.status().to_string();
  std::vector<Diagnostic> warnings;
  return resolve_precisions(**graph, *entries, written_forms(**graph), CustomizedTypes(**graph), warnings);
}

std::string fault(std::string_view text) {
  const auto read = resolve(text);
  EXPECT_FALSE(read.ok()) << text;
  if (read.ok()) return {};
  EXPECT_EQ(read.status().diagnostic().code, "E10001");
  return read.status().diagnostic().message;
}

TEST(CustomizedTypes, WhatTheOperatorsHave) {
  for (const char* text :
       {"fc::InputDtype:float16,float32,float16,OutputDtype:float32", "top::OutputDtype:float16,int64",
        "top::OutputDtype:float16,int32", "top::InputDtype:float32,int64", "values::InputDtype:float16,int64",
        "places::InputDtype:int64,int64", "whole::OutputDtype:int32", "q::OutputDtype:int8",
        "last/Gelu::InputDtype:float16,OutputDtype:float32", "OpType::Gather:InputDtype:int64,int64",
        "OpType::Gather:InputDtype:float32", "OpType::Gelu:InputDtype:float32"})
    EXPECT_TRUE(resolve(text).ok()) << text << resolve(text).status().to_string();
}

TEST(CustomizedTypes, IntegersAskForNothing) {
  const auto read = resolve("top::OutputDtype:float16,int64");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_THAT(read->nodes.at("top").outputs, ElementsAre(DType::F16, DType::Undefined));
}

// A quantised model stores the integers that the entry names.
TEST(CustomizedTypes, WhatIsQuantised) {
  EXPECT_TRUE(resolve("relu::OutputDtype:int8").ok());
  EXPECT_THAT(fault("relu::OutputDtype:uint8"), HasSubstr("not uint8"));
  EXPECT_THAT(fault("relu::InputDtype:int8"), HasSubstr("input 0 of node 'relu' (Relu)"));
}

TEST(CustomizedTypes, IntegersOfFloatOperators) {
  EXPECT_THAT(
      fault("# types\nfc::OutputDtype:int8"),
      AllOf(HasSubstr("c.cfg"), HasSubstr("line 2, 'fc::OutputDtype:int8': output 0 of node 'fc' (Gemm)"),
            HasSubstr("is float32 in the model and can be float16 or float32, not int8")));
  EXPECT_THAT(fault("fc::InputDtype:float16,int8"), HasSubstr("input 1 of node 'fc' (Gemm)"));
  EXPECT_THAT(fault("OpType::Relu:InputDtype:bool"), HasSubstr("not bool"));
  EXPECT_THAT(fault("last/Gelu::InputDtype:int8"), HasSubstr("the operands of Gelu"));
}

TEST(CustomizedTypes, IntegersKeepTheirType) {
  EXPECT_THAT(fault("top::OutputDtype:float16,float16"),
              HasSubstr("output 1 of node 'top' (TopK) is int64 in the model and keeps that type"));
  EXPECT_THAT(fault("whole::OutputDtype:float16"), HasSubstr("is int32 in the model"));
  EXPECT_THAT(fault("whole::OutputDtype:int64"), HasSubstr("is int32 in the model"));
}

TEST(CustomizedTypes, MoreThanTheOperatorHas) {
  EXPECT_THAT(fault("fc::InputDtype:float16,float16,float16,float16"),
              HasSubstr("node 'fc' (Gemm) has 3 inputs, but InputDtype lists 4 types"));
  EXPECT_THAT(fault("relu::OutputDtype:float16,float16"),
              HasSubstr("node 'relu' (Relu) has 1 output, but OutputDtype lists 2 types"));
  EXPECT_THAT(fault("OpType::Gather:InputDtype:float16,int64,int64"), HasSubstr("has 2 inputs"));
  EXPECT_THAT(fault("last/Gelu::InputDtype:float16,float16,float16,float16,float16,float16"),
              HasSubstr("Gelu has at most"));
}

}  // namespace
}  // namespace atc::driver
