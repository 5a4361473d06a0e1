#include "om/op_names.h"

#include <gtest/gtest.h>

namespace atc::om {
namespace {

std::string name_of(const char* op_type, const Dims& a, const Dims& b = {}, const char* domain = "") {
  ir::Graph g;
  std::vector<ir::Value*> inputs = {g.add_input("a", ir::tensor_type(DType::F32, a))};
  if (!b.empty()) inputs.push_back(g.add_input("b", ir::tensor_type(DType::F32, b)));
  return atc_op_type(*g.add_node(op_type, inputs, 1, nullptr, domain, 17));
}

TEST(OpNames, DependOnTheRankWhereAtcHasSeveral) {
  EXPECT_EQ(name_of("Conv", {1, 3, 8}), "Conv2D");
  EXPECT_EQ(name_of("Conv", {1, 3, 8, 8}), "Conv2D");
  EXPECT_EQ(name_of("Conv", {1, 3, 8, 8, 8}), "Conv3D");
  EXPECT_EQ(name_of("ConvTranspose", {1, 3, 8, 8}), "Conv2DTranspose");
  EXPECT_EQ(name_of("MaxPool", {1, 3, 8, 8}), "MaxPoolV3");
  EXPECT_EQ(name_of("MaxPool", {1, 3, 8, 8, 8}), "MaxPool3D");
  EXPECT_EQ(name_of("MatMul", {4, 8}, {8, 2}), "MatMul");
  EXPECT_EQ(name_of("MatMul", {3, 4, 8}, {8, 2}), "BatchMatMul");
}

TEST(OpNames, TheFirstAndLastOfTheTableAreFound) {
  EXPECT_EQ(name_of("And", {1}), "LogicalAnd");
  EXPECT_EQ(name_of("Xor", {1}), "LogicalXor");
  EXPECT_EQ(name_of("GRU", {1}), "CommonGRU");
  EXPECT_EQ(name_of("Softmax", {1}), "SoftmaxV2");
}

TEST(OpNames, OthersKeepTheirName) {
  EXPECT_EQ(name_of("Relu", {1}), "Relu");
  EXPECT_EQ(name_of("Softmax", {1}, {}, "vendor"), "Softmax");
  EXPECT_EQ(name_of("TransData", {1}, {}, "atc"), "TransData");
}

TEST(OpNames, OurCubeFormsHaveTheNamesOfTheirOperators) {
  EXPECT_EQ(name_of("Conv", {1, 3, 8, 8}, {}, "atc"), "Conv2D");
  EXPECT_EQ(name_of("DepthwiseConv", {1, 3, 8, 8}, {}, "atc"), "DepthwiseConv2D");
}

TEST(OpNames, AFusedNodeOfOneOperatorHasItsName) {
  for (const int count : {1, 2}) {
    auto body = std::make_shared<ir::Graph>("body");
    ir::Value* v = body->add_input("x", ir::tensor_type(DType::F32, {4}));
    for (int i = 0; i < count; ++i) v = body->add_node("Div", {v, v}, 1, nullptr, "", 14)->output(0);
    body->add_output(v);
    ir::Graph g;
    ir::Node* fused =
        g.add_node("Fused", {g.add_input("x", ir::tensor_type(DType::F32, {4}))}, 1, nullptr, "atc", 0);
    fused->attrs.set("body", body);
    EXPECT_EQ(atc_op_type(*fused), count == 1 ? "RealDiv" : "Fused");
  }
}

TEST(OpNames, OnnxTypeNamesDomainAndVersion) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", ir::tensor_type(DType::F32, {4}));
  EXPECT_EQ(onnx_op_type(*g.add_node("Conv", {x}, 1, nullptr, "", 17)), "ai.onnx::17::Conv");
  EXPECT_EQ(onnx_op_type(*g.add_node("Fused", {x}, 1, nullptr, "atc", 0)), "atc::0::Fused");
}

}  // namespace
}  // namespace atc::om
