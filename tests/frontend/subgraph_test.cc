// Bodies of If, Loop and Scan.
#include "matchers.h"
#include "model_builder.h"

namespace atc::frontend {
namespace {

onnx::GraphProto body(const std::string& name, const std::vector<onnx::NodeProto>& nodes,
                      const Strings& outputs) {
  onnx::GraphProto g;
  g.set_name(name);
  for (const auto& n : nodes) *g.add_node() = n;
  for (const auto& o : outputs) g.add_output()->set_name(o);
  return g;
}

ModelBuilder if_model(const onnx::GraphProto& then_branch, const onnx::GraphProto& else_branch) {
  ModelBuilder m;
  m.input("c", DType::Bool, {}).input("x");
  m.node("If", {"c"}, {"y"}, "choose",
         {graph_attribute("then_branch", then_branch), graph_attribute("else_branch", else_branch)});
  m.output("y");
  return m;
}

TEST(Subgraphs, ReadOuterValues) {
  const auto model = load(if_model(body("t", {make_node("Relu", {"x"}, {"r"}, "inner")}, {"r"}),
                                   body("e", {make_node("Neg", {"x"}, {"n"})}, {"n"})));
  ASSERT_LOADS(model);
  const ir::Node* node = find_node(*model->graph, "If");
  const auto then_graph = node->attrs.get_graph("then_branch");
  const auto else_graph = node->attrs.get_graph("else_branch");
  ASSERT_NE(then_graph, nullptr);
  EXPECT_EQ(then_graph->parent(), model->graph.get());
  EXPECT_EQ(then_graph->name, "t");
  EXPECT_EQ(outline(*then_graph), "Relu(x)->r\n");
  EXPECT_EQ(find_node(*then_graph, "Relu")->input(0), model->graph->inputs()[1]);
  EXPECT_THAT(find_node(*then_graph, "Relu")->sources, testing::ElementsAre("inner"));
  EXPECT_THAT(find_node(*else_graph, "Neg")->sources, testing::ElementsAre("choose.else_branch/#0"));
  EXPECT_EQ(model->graph->inputs()[1]->uses().size(), 2u);
}

TEST(Subgraphs, WaitForTheOuterValuesThatTheyRead) {
  ModelBuilder m;
  m.input("c", DType::Bool, {}).input("x");
  const auto deep = body("deep", {make_node("Abs", {"late"}, {"q"})}, {"q"});
  const auto outer =
      body("t", {make_node("If", {"c"}, {"r"}, "", {graph_attribute("then_branch", deep)})}, {"r"});
  m.node("If", {"c"}, {"y"}, "", {graph_attribute("then_branch", outer)});
  m.node("Relu", {"x"}, {"late"}).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph), "Relu(x)->late\nIf(c)->y\n");
  // A body that needs its own node's result is a cycle.
  ModelBuilder cyclic = if_model(body("t", {make_node("Relu", {"y"}, {"r"})}, {"r"}), body("e", {}, {"x"}));
  expect_refused(load(cyclic), "E10041", "cycle", "'choose' (If)");
}

TEST(Subgraphs, InnerNamesHideOuterOnes) {
  auto t = body("t", {make_node("Relu", {"w"}, {"x"}), make_node("Neg", {"x"}, {"r"})}, {"r"});
  *t.add_initializer() = raw_tensor<float>("w", DType::F32, {1}, {7});
  const auto model = load(if_model(t, body("e", {make_node("Neg", {"x"}, {"r"})}, {"r"})));
  ASSERT_LOADS(model);
  const auto then_graph = find_node(*model->graph, "If")->attrs.get_graph("then_branch");
  const ir::Value* inner = find_node(*then_graph, "Neg")->input(0);
  EXPECT_EQ(inner->producer()->op_type, "Relu");
  EXPECT_TRUE(find_node(*then_graph, "Relu")->input(0)->is_constant());
  const auto else_graph = find_node(*model->graph, "If")->attrs.get_graph("else_branch");
  EXPECT_EQ(find_node(*else_graph, "Neg")->input(0), model->graph->inputs()[1]);
}

TEST(Subgraphs, ReturnOuterValuesThroughIdentity) {
  const auto model = load(if_model(body("t", {}, {"x"}), body("e", {}, {"x"})));
  ASSERT_LOADS(model);
  const auto then_graph = find_node(*model->graph, "If")->attrs.get_graph("then_branch");
  EXPECT_EQ(outline(*then_graph), "Identity(x)->x\n");
  EXPECT_EQ(then_graph->outputs()[0]->graph(), then_graph.get());
  EXPECT_EQ(find_node(*then_graph, "Identity")->version, 17);
}

TEST(Subgraphs, LoopBodyInputsKeepPlaceAndElementTypeOnly) {
  onnx::GraphProto loop = body("loop", {make_node("Add", {"carried", "x"}, {"next"})}, {"keep", "next"});
  *loop.add_input() = make_input("i", DType::I64, {});
  *loop.add_input() = make_input("keep", DType::Bool, {"1"});
  *loop.add_input() = make_input("carried", DType::F32, {"4", "4"});
  loop.add_input()->set_name("bare");
  // A default value of an input that the loop feeds.
  *loop.add_initializer() = raw_tensor<float>("carried", DType::F32, {1}, {0});
  ModelBuilder m;
  m.input("x").node("Loop", {"", "", "x", "x"}, {"y"}, "l", {graph_attribute("body", loop)}).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph), "Loop(_,_,x,x)->y\n");
  const auto g = find_node(*model->graph, "Loop")->attrs.get_graph("body");
  ASSERT_EQ(g->inputs().size(), 4u);
  EXPECT_EQ(to_string(g->inputs()[0]->type), "i64[*]");
  EXPECT_EQ(to_string(g->inputs()[1]->type), "bool[*]");
  EXPECT_EQ(to_string(g->inputs()[2]->type), "f32[*]");
  EXPECT_EQ(g->inputs()[3]->type.dtype, DType::Undefined);
  EXPECT_EQ(find_node(*g, "Add")->input(0), g->inputs()[2]);
  EXPECT_EQ(g->outputs()[0], g->inputs()[1]);
}

TEST(Subgraphs, Refusals) {
  expect_refused(
      load(if_model(body("t", {make_node("Relu", {"xx"}, {"r"}, "inner")}, {"r"}), body("e", {}, {"x"}))),
      "E10041", "'choose.then_branch/inner' (Relu)", "input 0", "did you mean 'x'");
  expect_refused(load(if_model(body("t", {}, {"zzz"}), body("e", {}, {"x"}))), "E10041", "output 'zzz'",
                 "choose");
  auto twice = body("t", {}, {"a"});
  *twice.add_input() = make_input("a", DType::F32, {});
  *twice.add_input() = make_input("a", DType::F32, {});
  expect_refused(load(if_model(twice, body("e", {}, {"x"}))), "E10041", "two inputs", "'a'");
  auto sequence = body("t", {}, {"a"});
  sequence.add_input()->set_name("a");
  sequence.mutable_input(0)->mutable_type()->mutable_sequence_type();
  expect_refused(load(if_model(sequence, body("e", {}, {"x"}))), "E13025", "'a'", "seq(");
}

}  // namespace
}  // namespace atc::frontend
