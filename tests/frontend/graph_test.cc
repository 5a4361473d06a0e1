// Names, order, inputs and outputs, opsets, attributes.
#include "matchers.h"
#include "model_builder.h"

namespace atc::frontend {
namespace {

TEST(Graph, KeepsNamesTypesAndModelInformation) {
  ModelBuilder m;
  m.proto.set_producer_name("tester");
  m.proto.set_producer_version("1.2");
  m.opset("com.example", 3);
  m.input("x", DType::F16, {"batch", "3"}).input("unused", DType::I64, {});
  m.node("Relu", {"x"}, {"r"}, "relu").node("Fancy", {"r"}, {"y"}, "", {}, "com.example").output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(model->file, "m.onnx");
  EXPECT_EQ(model->producer_name, "tester");
  EXPECT_EQ(model->producer_version, "1.2");
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_THAT(model->opsets, testing::ElementsAre(testing::Pair("", 17), testing::Pair("com.example", 3)));
  const ir::Graph& g = *model->graph;
  EXPECT_EQ(g.name, "g");
  ASSERT_EQ(g.inputs().size(), 2u);
  EXPECT_EQ(to_string(g.inputs()[0]->type), "f16[batch,3]");
  EXPECT_EQ(to_string(g.inputs()[1]->type), "i64[]");
  EXPECT_EQ(g.inputs()[1]->name(), "unused");
  EXPECT_EQ(outline(g), "Relu(x)->r\nFancy(r)->y\n");
  const ir::Node* relu = find_node(g, "Relu");
  EXPECT_EQ(relu->name, "relu");
  EXPECT_EQ(relu->version, 17);
  EXPECT_THAT(relu->sources, testing::ElementsAre("relu"));
  const ir::Node* fancy = find_node(g, "Fancy");
  EXPECT_EQ(fancy->domain, "com.example");
  EXPECT_EQ(fancy->version, 3);
  EXPECT_EQ(fancy->name, "");
  EXPECT_THAT(fancy->sources, testing::ElementsAre("#1"));
}

TEST(Graph, OpenDimsAreSharedByNameAndOtherwiseTheirOwn) {
  ModelBuilder m;
  m.input("a", DType::F32, {"n", "", "-1", "0", "?"}).input("b", DType::F32, {"n", "", "?", "?1"});
  m.graph()->add_input()->set_name("c");
  m.graph()->mutable_input(2)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  m.output("a");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(to_string(model->graph->inputs()[0]->type), "f32[n,?0,?2,0,?3]");
  EXPECT_EQ(to_string(model->graph->inputs()[1]->type), "f32[n,?4,?5,?1]");
  EXPECT_EQ(to_string(model->graph->inputs()[2]->type), "f32[*]");
}

TEST(Graph, InitializersThatAreInputsAreConstants) {
  for (const int ir_version : {3, 4, 8}) {
    ModelBuilder m;
    m.proto.set_ir_version(ir_version);
    m.input("w").input("x").initializer(raw_tensor<float>("w", DType::F32, {2}, {1, 2}));
    m.node("Add", {"x", "w"}, {"y"}).output("y");
    const auto model = load(m);
    ASSERT_LOADS(model);
    ASSERT_EQ(model->graph->inputs().size(), 1u);
    EXPECT_EQ(model->graph->inputs()[0]->name(), "x");
    EXPECT_TRUE(find_value(*model->graph, "w")->is_constant());
  }
}

TEST(Graph, IgnoresStaleValueInfoAndOutputTypes) {
  ModelBuilder m;
  m.input("x").node("Relu", {"x"}, {"r"}).node("Relu", {"r"}, {"y"});
  *m.graph()->add_value_info() = make_input("r", DType::I8, {"9", "9"});
  *m.graph()->add_value_info() = make_input("nowhere", DType::I8, {"9"});
  *m.graph()->add_output() = make_input("y", DType::I8, {"9"});
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(find_value(*model->graph, "r")->type, ir::TensorType());
  EXPECT_EQ(model->graph->outputs()[0]->type, ir::TensorType());
}

TEST(Graph, SortsNodesStably) {
  ModelBuilder m;
  m.input("x");
  m.node("C", {"b", "a"}, {"c"}).node("B", {"x"}, {"b"}).node("D", {"x"}, {"d"}).node("A", {"b"}, {"a"});
  m.output("c").output("d");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph), "B(x)->b\nD(x)->d\nA(b)->a\nC(b,a)->c\n");
  EXPECT_THAT(find_node(*model->graph, "A")->sources, testing::ElementsAre("#3"));
}

TEST(Graph, NodesOfOneNameStayApart) {
  ModelBuilder m;
  m.input("x")
      .node("Relu", {"x"}, {"a"}, "same")
      .node("Abs", {"a"}, {"b"}, "same")
      .node("Neg", {"b"}, {"same"}, "a");
  m.output("same");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph), "Relu(x)->a\nAbs(a)->b\nNeg(b)->same\n");
  EXPECT_EQ(find_node(*model->graph, "Abs")->name, "same");
}

TEST(Graph, AbsentOptionalInputsAndOutputsAreNull) {
  ModelBuilder m;
  m.input("x").node("Clip", {"x", "", "x", ""}, {"", "y", ""}).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph), "Clip(x,_,x,_)->_,y,_\n");
}

TEST(Graph, OutputsMayBeInputsConstantsAndRepeated) {
  ModelBuilder m;
  m.input("x").initializer(raw_tensor<float>("w", DType::F32, {1}, {1}));
  m.output("x").output("w").output("x");
  const auto model = load(m);
  ASSERT_LOADS(model);
  ASSERT_EQ(model->graph->outputs().size(), 3u);
  EXPECT_EQ(model->graph->outputs()[0], model->graph->inputs()[0]);
  EXPECT_EQ(model->graph->outputs()[2], model->graph->inputs()[0]);
  EXPECT_TRUE(model->graph->outputs()[1]->is_constant());
}

TEST(Graph, WithoutInputsIsLegal) {
  ModelBuilder m;
  m.node("RandomNormal", {}, {"y"}).output("y");
  ASSERT_LOADS(load(m));
}

TEST(Graph, OldAndFutureVersionsLoad) {
  for (const auto& [ir_version, opset] :
       std::vector<std::pair<int, int>>{{3, 1}, {7, 12}, {13, 28}, {99, 999}}) {
    ModelBuilder m;
    m.proto.set_ir_version(ir_version);
    m.proto.mutable_opset_import(0)->set_version(opset);
    m.input("x").node("Relu", {"x"}, {"y"}).output("y");
    const auto model = load(m);
    ASSERT_LOADS(model);
    EXPECT_EQ(find_node(*model->graph, "Relu")->version, opset);
  }
  // Before opset_import there was one operator set.
  ModelBuilder old;
  old.proto.set_ir_version(2);
  old.proto.clear_opset_import();
  old.input("x").node("Relu", {"x"}, {"y"}).output("y");
  const auto model = load(old);
  ASSERT_LOADS(model);
  EXPECT_EQ(find_node(*model->graph, "Relu")->version, 1);
}

TEST(Graph, EachNodeHasTheVersionOfItsDomain) {
  ModelBuilder m;
  m.opset("ai.onnx.ml", 3).opset("ai.onnx", 13).opset("never.used", 9);
  m.input("x")
      .node("Relu", {"x"}, {"a"}, "", {}, "ai.onnx")
      .node("Scaler", {"a"}, {"b"}, "", {}, "ai.onnx.ml");
  m.node("Gelu", {"b"}, {"y"}, "", {}, "com.microsoft").output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(find_node(*model->graph, "Relu")->version, 17);
  EXPECT_EQ(find_node(*model->graph, "Relu")->domain, "");
  EXPECT_EQ(find_node(*model->graph, "Scaler")->version, 3);
  EXPECT_EQ(find_node(*model->graph, "Gelu")->version, 1);
}

onnx::NodeProto with_attributes() {
  auto n = make_node("Op", {"x"}, {"y"}, "n", {int_attribute("i", -5)});
  const auto add = [&](const std::string& name, onnx::AttributeProto::AttributeType type) {
    *n.add_attribute() = attribute(name, type);
    return n.mutable_attribute(n.attribute_size() - 1);
  };
  using A = onnx::AttributeProto;
  add("f", A::FLOAT)->set_f(0.5f);
  add("s", A::STRING)->set_s(std::string("a\0b", 3));
  auto* floats = add("floats", A::FLOATS);
  floats->add_floats(1);
  floats->add_floats(2);
  add("ints", A::INTS)->add_ints(7);
  add("none", A::INTS);
  add("zero", A::INT);
  add("strings", A::STRINGS)->add_strings("q");
  *add("t", A::TENSOR)->mutable_t() = raw_tensor<float>("", DType::F32, {1}, {3});
  auto* tensors = add("tensors", A::TENSORS);
  *tensors->add_tensors() = raw_tensor<float>("", DType::F32, {1}, {4});
  *tensors->add_tensors() = raw_tensor<float>("", DType::F32, {1}, {5});
  auto* sparse = add("sparse_value", A::SPARSE_TENSOR)->mutable_sparse_tensor();
  *sparse->mutable_values() = raw_tensor<float>("", DType::F32, {1}, {6});
  *sparse->mutable_indices() = raw_tensor<std::int64_t>("", DType::I64, {1}, {1});
  sparse->add_dims(2);
  add("tp", A::TYPE_PROTO)
      ->mutable_tp()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(7);
  add("untyped", A::UNDEFINED)->set_i(9);
  add("nothing", A::UNDEFINED);
  return n;
}

TEST(Graph, AttributesOfAllKinds) {
  ModelBuilder m;
  m.input("x").node(with_attributes()).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  const ir::Attributes& a = find_node(*model->graph, "Op")->attrs;
  EXPECT_EQ(a.map().size(), 14u);
  EXPECT_EQ(a.get_int("i", 0), -5);
  EXPECT_EQ(a.get_float("f", 0), 0.5f);
  EXPECT_EQ(a.get_string("s", ""), std::string("a\0b", 3));
  EXPECT_THAT(a.get_floats("floats"), testing::ElementsAre(1, 2));
  EXPECT_THAT(a.get_ints("ints"), testing::ElementsAre(7));
  EXPECT_TRUE(a.has("none"));
  EXPECT_THAT(a.get_ints("none", {1}), testing::IsEmpty());
  EXPECT_EQ(a.get_int("zero", 1), 0);
  EXPECT_THAT(std::get<std::vector<std::string>>(*a.find("strings")), testing::ElementsAre("q"));
  EXPECT_THAT(to_doubles(*a.get_tensor("t")), testing::ElementsAre(3));
  const auto& tensors = std::get<std::vector<Tensor>>(*a.find("tensors"));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_THAT(to_doubles(tensors[1]), testing::ElementsAre(5));
  EXPECT_THAT(to_doubles(*a.get_tensor("sparse_value")), testing::ElementsAre(0, 6));
  EXPECT_EQ(a.get_string("tp", ""), "seq(tensor(int64))");
  EXPECT_EQ(a.get_int("untyped", 0), 9);
  EXPECT_TRUE(a.has("nothing"));
}

TEST(GraphRefusals, Cycle) {
  ModelBuilder m;
  m.input("x")
      .node("Add", {"x", "c"}, {"a"}, "first")
      .node("Relu", {"a"}, {"b"})
      .node("Abs", {"b"}, {"c"}, "third");
  m.node("Neg", {"a"}, {"y"}, "bystander").output("y");
  const auto model = load(m);
  expect_refused(model, "E10041", "m.onnx", "cycle", "'first' (Add)", "'#1' (Relu)", "'third' (Abs)");
  EXPECT_THAT(model.status().diagnostic().message, testing::Not(testing::HasSubstr("bystander")));
  ModelBuilder self;
  self.input("x").node("Add", {"x", "y"}, {"y"}, "loop").output("y");
  expect_refused(load(self), "E10041", "cycle", "'loop' (Add) -> node 'loop' (Add)");
}

TEST(GraphRefusals, UndefinedValues) {
  ModelBuilder m;
  m.input("data").node("Add", {"data", "dota"}, {"y"}, "sum").output("y");
  expect_refused(load(m), "E10041", "'sum' (Add)", "input 1", "'dota'", "did you mean 'data'");
  ModelBuilder out;
  out.input("data").output("dat");
  expect_refused(load(out), "E10041", "output 'dat'", "did you mean 'data'");
  ModelBuilder empty;
  empty.input("data").output("");
  expect_refused(load(empty), "E10041", "output ''");
}

TEST(GraphRefusals, DoubleDefinitions) {
  const auto w = raw_tensor<float>("w", DType::F32, {1}, {1});
  ModelBuilder inputs;
  inputs.input("x").input("x").output("x");
  expect_refused(load(inputs), "E10041", "two inputs", "'x'");
  ModelBuilder initializers;
  initializers.initializer(w).initializer(w).output("w");
  expect_refused(load(initializers), "E10041", "two initializers", "'w'");
  ModelBuilder nodes;
  nodes.input("x").node("Relu", {"x"}, {"y"}, "one").node("Abs", {"x"}, {"y"}, "two").output("y");
  expect_refused(load(nodes), "E10041", "'y' is defined twice", "'one' (Relu)", "'two' (Abs)");
  ModelBuilder twice;
  twice.input("x").node("Split", {"x"}, {"y", "y"}, "one").output("y");
  expect_refused(load(twice), "E10041", "'y' is defined twice");
  ModelBuilder overwrite;
  overwrite.input("x").node("Relu", {"x"}, {"x"}, "one").output("x");
  expect_refused(load(overwrite), "E10041", "'x' is defined twice", "'one' (Relu)");
  ModelBuilder constant;
  constant.initializer(w).node("Relu", {"w"}, {"w"}, "one").output("w");
  expect_refused(load(constant), "E10041", "'w' is defined twice", "'one' (Relu)");
}

TEST(GraphRefusals, MissingParts) {
  ModelBuilder nothing;
  expect_refused(load(nothing), "E16001", "m.onnx", "no nodes and no inputs");
  ModelBuilder no_output;
  no_output.input("x").node("Relu", {"x"}, {"y"});
  expect_refused(load(no_output), "E16001", "no outputs");
  ModelBuilder no_graph;
  no_graph.proto.clear_graph();
  expect_refused(load(no_graph), "E16004", "m.onnx", "no graph");
  ModelBuilder no_opset;
  no_opset.proto.clear_opset_import();
  no_opset.input("x").node("Relu", {"x"}, {"y"}, "r").output("y");
  expect_refused(load(no_opset), "E16005", "'r' (Relu)", "opset_import");
  ModelBuilder no_type;
  no_type.input("x", DType::F32).node("", {"x"}, {"y"}, "r").output("y");
  expect_refused(load(no_type), "E10041", "'r'", "op_type");
  ModelBuilder unnamed;
  unnamed.input("").output("");
  expect_refused(load(unnamed), "E10041", "no name");
  ModelBuilder unnamed_weight;
  unnamed_weight.input("x").initializer(raw_tensor<float>("", DType::F32, {1}, {1})).output("x");
  expect_refused(load(unnamed_weight), "E10041", "no name");
}

TEST(GraphRefusals, InputsThatAreNoTensors) {
  const auto refused = [](const std::function<void(onnx::TypeProto*)>& set, const std::string& why) {
    ModelBuilder m;
    m.graph()->add_input()->set_name("x");
    set(m.graph()->mutable_input(0)->mutable_type());
    m.output("x");
    expect_refused(load(m), "E13025", "'x'", "m.onnx", why);
  };
  refused(
      [](auto* t) {
        t->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
      },
      "seq(tensor(float))");
  refused(
      [](auto* t) {
        t->mutable_optional_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(7);
      },
      "optional(tensor(int64))");
  refused(
      [](auto* t) {
        t->mutable_map_type()->set_key_type(8);
        t->mutable_map_type()->mutable_value_type()->mutable_tensor_type()->set_elem_type(1);
      },
      "map(string,tensor(float))");
  refused([](auto* t) { t->mutable_sparse_tensor_type()->set_elem_type(1); }, "sparse_tensor(float)");
  refused([](auto* t) { t->mutable_tensor_type(); }, "no element type");
  refused([](auto*) {}, "no element type");
  refused([](auto* t) { t->mutable_tensor_type()->set_elem_type(77); }, "77");
}

TEST(GraphRefusals, Attributes) {
  const auto refused = [](const onnx::NodeProto& n, const std::string& why) {
    ModelBuilder m;
    m.input("x").node(n).output("y");
    expect_refused(load(m), "E10041", "'n' (Op)", why);
  };
  refused(make_node("Op", {"x"}, {"y"}, "n", {int_attribute("a", 1), int_attribute("a", 2)}), "given twice");
  refused(make_node("Op", {"x"}, {"y"}, "n", {int_attribute("", 1)}), "without a name");
  auto mixed = attribute("a", onnx::AttributeProto::INT);
  mixed.set_f(1);
  refused(make_node("Op", {"x"}, {"y"}, "n", {mixed}), "of kind INT, but has a value of kind FLOAT");
  auto graphs = attribute("a", onnx::AttributeProto::GRAPHS);
  graphs.add_graphs();
  refused(make_node("Op", {"x"}, {"y"}, "n", {graphs}), "GRAPHS, which is not supported");
  auto bad = attribute("value", onnx::AttributeProto::TENSOR);
  *bad.mutable_t() = make_tensor("", DType::F32, {1});
  refused(make_node("Op", {"x"}, {"y"}, "n", {bad}), "attribute 'value': f32[1] has no data");
  refused(make_node("Op", {"x"}, {"y"}, "n", {reference("a", onnx::AttributeProto::INT, "alpha")}),
          "'alpha' outside of any function");
}

}  // namespace
}  // namespace atc::frontend
