#include "driver/model_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atc/ir/text.h"
#include "atc/ir/verifier.h"
#include "driver/option_values.h"

namespace atc::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// x -> "rel" -> r -> "sig" -> y; its outputs are those of `outputs`.
std::unique_ptr<ir::Graph> chain(const std::string& outputs) {
  auto graph = ir::parse("air 1\ngraph \"g\"(%0 \"x\": f32[2]) -> (" + outputs +
                         ") {\n"
                         "  %1 \"r\" = Relu@14(%0) : f32[2] name \"rel\"\n"
                         "  %2 \"y\" = Sigmoid@13(%1) : f32[2] name \"sig\"\n}\n");
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? std::move(graph).value() : nullptr;
}

/// Name and dtype of each output.
std::vector<std::string> outputs_of(const ir::Graph& graph) {
  EXPECT_EQ(ir::verify(graph), "");
  std::vector<std::string> out;
  for (const ir::Value* v : graph.outputs())
    out.push_back(v->name() + " " + (v->producer() != nullptr ? v->producer()->op_type : "input"));
  return out;
}

TEST(SelectOutputs, ByNodeTensorOrOutputInTheOptionsOrder) {
  const auto graph = chain("%2");
  ASSERT_TRUE(select_outputs(*graph, *parse_out_nodes("sig:0;rel:0;sig:0")).ok());
  EXPECT_THAT(outputs_of(*graph), ElementsAre("y Sigmoid", "r Relu", "y Sigmoid"));
  ASSERT_TRUE(select_outputs(*graph, *parse_out_nodes("r;y")).ok());
  EXPECT_THAT(outputs_of(*graph), ElementsAre("r Relu", "y Sigmoid"));
}

TEST(SelectOutputs, AdviceIsWhatTheOptionTakes) {
  const auto refusal = [](const std::string& text) {
    const Status status = select_outputs(*chain("%2"), *parse_out_nodes(text));
    return status.ok() ? std::string() : status.diagnostic().code + " " + status.diagnostic().solution;
  };
  EXPECT_THAT(refusal("sig"), HasSubstr("did you mean 'sig:0'?"));  // the index is missing
  EXPECT_THAT(refusal("sif:0"), HasSubstr("did you mean 'sig'?"));
  EXPECT_THAT(refusal("y:0"), HasSubstr("did you mean 'y'?"));  // a tensor has none
  EXPECT_THAT(refusal("sig"), HasSubstr("E11017"));
  EXPECT_THAT(refusal("sig:1"), HasSubstr("E10001"));
}

TEST(CastOutputs, AnOutputThatIsListedTwiceKeepsItsName) {
  const auto graph = chain("%2, %1, %2");
  ASSERT_TRUE(cast_outputs(*graph, {{"", 0, DType::F16}}, {}).ok());
  EXPECT_THAT(outputs_of(*graph), ElementsAre("y Cast", "r Cast", "y Cast"));
  EXPECT_EQ(graph->outputs()[0], graph->outputs()[2]);
}

TEST(CastOutputs, OnlyTheNodesThatAreNamed) {
  const auto graph = chain("%2");
  const auto nodes = *parse_out_nodes("rel:0;sig:0");
  ASSERT_TRUE(select_outputs(*graph, nodes).ok());
  ASSERT_TRUE(cast_outputs(*graph, *parse_output_type("sig:0:FP16", true), nodes).ok());
  EXPECT_THAT(outputs_of(*graph), ElementsAre("r Relu", "y Cast"));
  EXPECT_EQ(cast_outputs(*graph, *parse_output_type("x:0:FP16", true), nodes).diagnostic().code, "E10001");
}

TEST(NarrowInputs, AnInputThatIsAnOutputKeepsItsName) {
  const auto graph = chain("%0, %2");
  ASSERT_TRUE(narrow_inputs(*graph, {"x"}).ok());
  EXPECT_EQ(graph->inputs()[0]->type.dtype, DType::F16);
  EXPECT_THAT(outputs_of(*graph), ElementsAre("x Cast", "y Sigmoid"));
}

}  // namespace
}  // namespace atc::driver
