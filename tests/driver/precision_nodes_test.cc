#include "driver/precision_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atc/ir/text.h"
#include "driver/written_forms.h"

namespace atc::driver {
namespace {

using passes::Storage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// As a model is imported: nothing is inferred. A GELU and a LayerNorm written out, a product, a Sigmoid, and
// what looks like a GELU but is none.
constexpr const char* kModel = R"(air 1
graph "g"(%0 "x": f32[2,8]) -> (%20, %21, %31) {
  %1 = const f32[] {1.4142135}
  %2 = const f32[] {1.0}
  %3 = const f32[] {0.5}
  %22 = const f32[] {2.0}
  %23 = const f32[8] splat 0.7
  %4 = const f32[8,8] splat 0.1
  %5 = Div@14(%0, %1) : ?[*] name "Div_101" from "Div_101"
  %6 = Erf@13(%5) : ?[*] name "Erf_102" from "Erf_102"
  %7 = Add@14(%6, %2) : ?[*] name "Add_103" from "Add_103"
  %8 = Mul@14(%0, %7) : ?[*] name "Mul_104" from "Mul_104"
  %9 = Mul@14(%8, %3) : ?[*] name "Mul_105" from "Mul_105"
  %10 = MatMul@13(%9, %4) : ?[*] name "MatMul_1" from "MatMul_1"
  %11 = ReduceMean@13(%10) {axes=[-1]} : ?[*] name "Mean_1" from "Mean_1"
  %12 = Sub@14(%10, %11) : ?[*] name "Sub_1" from "Sub_1"
  %13 = Pow@15(%12, %22) : ?[*] name "Pow_1" from "Pow_1"
  %14 = ReduceMean@13(%13) {axes=[-1]} : ?[*] name "Mean_2" from "Mean_2"
  %15 = Add@14(%14, %3) : ?[*] name "Add_2" from "Add_2"
  %16 = Sqrt@13(%15) : ?[*] name "Sqrt_1" from "Sqrt_1"
  %17 = Div@14(%12, %16) : ?[*] name "Div_2" from "Div_2"
  %18 = Mul@14(%17, %23) : ?[*] name "Mul_2" from "Mul_2"
  %20 "y" = Add@14(%18, %23) : ?[*] name "Add_3" from "Add_3"
  %21 "z" = Sigmoid@13(%0) : ?[*] name "Sigmoid_1" from "Sigmoid_1"
  %27 = Div@14(%0, %22) : ?[*] name "Div_201" from "Div_201"
  %28 = Erf@13(%27) : ?[*] name "Erf_202" from "Erf_202"
  %29 = Add@14(%28, %2) : ?[*] name "Add_203" from "Add_203"
  %30 = Mul@14(%0, %29) : ?[*] name "Mul_204" from "Mul_204"
  %31 "w" = Mul@14(%30, %3) : ?[*] name "Mul_205" from "Mul_205"
})";

struct Resolved {
  passes::NodePrecisions nodes;
  std::vector<Diagnostic> warnings;
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, p] : nodes.nodes) out.push_back(name);
    return out;
  }
};

Resolved resolve(const StatusOr<std::vector<PrecisionEntry>>& entries,
                 const passes::Switches& switches = {}) {
  EXPECT_TRUE(entries.ok()) << entries.status().to_string();
  const auto graph = ir::parse(kModel);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  Resolved out;
  auto nodes = resolve_precisions(**graph, *entries, written_forms(**graph, {}, switches),
                                  CustomizedTypes(**graph), out.warnings);
  EXPECT_TRUE(nodes.ok()) << nodes.status().to_string();
  if (nodes.ok()) out.nodes = *std::move(nodes);
  return out;
}

Resolved keep(const char* text) { return resolve(parse_keep_dtype(text, "k")); }
Resolved modes(const char* text) { return resolve(parse_op_precision_mode(text, "m")); }

TEST(WrittenForms, AreFound) {
  const auto graph = ir::parse(kModel);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const std::string before = ir::print(**graph);
  const auto forms = written_forms(**graph);
  EXPECT_EQ(ir::print(**graph), before) << "it is looked at in a copy";
  ASSERT_EQ(forms.size(), 2u);
  const auto names = [](const WrittenForm& form) {
    std::vector<std::string> out;
    for (const ir::Node* n : form.nodes) out.push_back(n->name);
    return out;
  };
  EXPECT_EQ(forms[0].type, "LayerNorm");
  EXPECT_THAT(names(forms[0]), UnorderedElementsAre("Mean_1", "Sub_1", "Pow_1", "Mean_2", "Add_2", "Sqrt_1",
                                                    "Div_2", "Mul_2", "Add_3"));
  EXPECT_EQ(forms[1].type, "Gelu");
  EXPECT_THAT(names(forms[1]), UnorderedElementsAre("Div_101", "Erf_102", "Add_103", "Mul_104", "Mul_105"));
}

TEST(WrittenForms, NeedKnownShapes) {
  std::string open = kModel;
  open.replace(open.find("f32[2,8]"), 8, "f32[n,8]");
  const auto graph = ir::parse(open);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_TRUE(written_forms(**graph).empty());
  EXPECT_EQ(written_forms(**graph, {{"x", {2, 8}}}).size(), 2u);
  EXPECT_TRUE(written_forms(**graph, {{"none", {2, 8}}}).empty());
}

// The nodes are known by the form's name still, but there is no operator that has a faster form.
TEST(PrecisionNodes, AGeluThatIsNotFusedHasNoFasterForm) {
  passes::Switches off;
  off.passes["GeluFusionPass"] = false;
  const Resolved r = resolve(parse_op_precision_mode("[ByOpType]\nGelu=high_performance\n", "m"), off);
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_THAT(r.warnings[0].message, HasSubstr("high_performance has no effect on Gelu"));
  EXPECT_THAT(resolve(parse_keep_dtype("OpType::Gelu", "k"), off).names().size(), 5u);
}

TEST(PrecisionNodes, ByNameAndType) {
  EXPECT_THAT(keep("MatMul_1").names(), ElementsAre("MatMul_1"));
  for (const char* type :
       {"OpType::MatMul", "OpType::MatMulV2", "OpType::BatchMatMulV2", "OpType::BatchMatMul"})
    EXPECT_THAT(keep(type).names(), ElementsAre("MatMul_1")) << type;
  EXPECT_THAT(keep("OpType::ReduceMeanD").names(), ElementsAre("Mean_1", "Mean_2"));
  EXPECT_THAT(keep("OpType::Pow").names(), ElementsAre("Pow_1"));
  EXPECT_THAT(keep("OpType::LayerNorm").names(),
              UnorderedElementsAre("Mean_1", "Sub_1", "Pow_1", "Mean_2", "Add_2", "Sqrt_1", "Div_2", "Mul_2",
                                   "Add_3"));
}

TEST(PrecisionNodes, NamesOfNodesThatFusionMakes) {
  const Resolved r = modes("[ByNodeName]\nMul_105/Gelu = high_performance\n");
  EXPECT_THAT(r.names(), UnorderedElementsAre("Div_101", "Erf_102", "Add_103", "Mul_104", "Mul_105"));
  EXPECT_TRUE(r.nodes.nodes.at("Erf_102").fast);
  EXPECT_THAT(r.warnings, IsEmpty());
  EXPECT_THAT(keep("Add_3/LayerNorm").names().size(), 9u);
  EXPECT_THAT(keep("MatMul_1/MatMulV2").names(), ElementsAre("MatMul_1"));
  // Of another form, or of none.
  EXPECT_THAT(keep("Mul_105/LayerNorm").names(), IsEmpty());
  EXPECT_THAT(keep("Mul_999/Gelu").warnings.size(), 1u);
}

TEST(PrecisionNodes, WhatTheModelHasNotIsWarnedOf) {
  const Resolved r = keep("Nope\nMatMul_1\nOpType::GridSampler2D");
  EXPECT_THAT(r.names(), ElementsAre("MatMul_1"));
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_EQ(r.warnings[0].code, "W11002");
  EXPECT_EQ(r.warnings[0].message, "--keep_dtype: not in the model: Nope, OpType::GridSampler2D.");
}

TEST(PrecisionNodes, WhatHasOneImplementationIsWarnedOf) {
  const Resolved r =
      modes("[ByOpType]\nSigmoid=high_performance\nGelu=high_performance\nErf=high_precision\n");
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_EQ(r.warnings[0].code, "W11003");
  EXPECT_THAT(r.warnings[0].message, HasSubstr("high_performance has no effect on Sigmoid"));
  EXPECT_TRUE(r.nodes.nodes.at("Mul_105").fast);
  EXPECT_FALSE(r.nodes.nodes.contains("Erf_102")) << "high_precision is what it is anyway";
  // Nothing is said of operators that nobody named.
  EXPECT_THAT(resolve(parse_implementation_mode("high_precision_for_all", "")).warnings, IsEmpty());
}

TEST(PrecisionNodes, ModesThatChangeNothingHere) {
  const Resolved r = modes("[ByOpType]\nPow=support_out_of_bound_index\n");
  EXPECT_THAT(r.names(), IsEmpty());
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_EQ(r.warnings[0].message,
            "--op_precision_mode: support_out_of_bound_index has no effect on Pow: there is one "
            "implementation, the "
            "precise one.");
}

TEST(PrecisionNodes, ANameBeatsItsType) {
  const Resolved r = modes("[ByNodeName]\nMul_105/Gelu=high_precision\n[ByOpType]\nGelu=high_performance\n");
  EXPECT_THAT(r.names(), IsEmpty());
  auto entries = *parse_keep_dtype("OpType::MatMul", "k");
  const auto more = parse_customize_dtypes("MatMul_1:OutputDtype:float16", "c", DType::F16);
  ASSERT_TRUE(more.ok());
  entries.insert(entries.end(), more->begin(), more->end());
  const Resolved both = resolve(entries);
  EXPECT_EQ(both.nodes.nodes.at("MatMul_1").storage, Storage::Keep);
  EXPECT_THAT(both.nodes.nodes.at("MatMul_1").outputs, ElementsAre(DType::F16));
  EXPECT_EQ(both.nodes.nodes.at("MatMul_1").option, "--customize_dtypes");
}

}  // namespace
}  // namespace atc::driver
