// Model-local functions.
#include "matchers.h"
#include "model_builder.h"

namespace atc::frontend {
namespace {

using A = onnx::AttributeProto;

onnx::FunctionProto function(const std::string& name, const Strings& inputs, const Strings& outputs,
                             const std::vector<onnx::NodeProto>& nodes, const Strings& attributes = {}) {
  onnx::FunctionProto f;
  f.set_domain("local");
  f.set_name(name);
  for (const auto& i : inputs) f.add_input(i);
  for (const auto& o : outputs) f.add_output(o);
  for (const auto& a : attributes) f.add_attribute(a);
  for (const auto& n : nodes) *f.add_node() = n;
  auto* opset = f.add_opset_import();
  opset->set_domain("");
  opset->set_version(15);
  return f;
}

onnx::NodeProto call(const std::string& name, const Strings& inputs, const Strings& outputs,
                     const std::string& node_name = {}, std::initializer_list<A> attributes = {}) {
  return make_node(name, inputs, outputs, node_name, attributes, "local");
}

/// Fields that the messages of libonnx 1.12 do not have.
void set_unknown(google::protobuf::Message* message, int number, const std::string& value) {
  message->GetReflection()->MutableUnknownFields(message)->AddLengthDelimited(number, value);
}
void set_default(onnx::FunctionProto* f, const A& value) { set_unknown(f, 11, value.SerializeAsString()); }

ModelBuilder with(const std::vector<onnx::FunctionProto>& functions) {
  ModelBuilder m;
  m.opset("local", 1);
  for (const auto& f : functions) *m.proto.add_functions() = f;
  return m;
}

TEST(Functions, AreInlinedWithTheirOwnOpset) {
  auto m = with({function("Block", {"a", "b"}, {"o"},
                          {make_node("Mul", {"a", "b"}, {"t"}, "mul"), make_node("Relu", {"t"}, {"o"})})});
  m.input("x")
      .node(call("Block", {"x", "x"}, {"p"}, "first"))
      .node(call("Block", {"p", "x"}, {"y"}))
      .output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph), "Mul(x,x)->first/t\nRelu(first/t)->p\nMul(p,x)->#1/t\nRelu(#1/t)->y\n");
  const ir::Node* mul = find_node(*model->graph, "Mul");
  EXPECT_EQ(mul->version, 15);
  EXPECT_EQ(mul->name, "first/mul");
  EXPECT_THAT(mul->sources, testing::ElementsAre("first/mul"));
  EXPECT_THAT(find_node(*model->graph, "Relu")->sources, testing::ElementsAre("first/#1"));
  EXPECT_EQ(model->graph->outputs()[0]->name(), "y");
}

TEST(Functions, FallBackOnTheModelsOpset) {
  auto f = function("F", {"a"}, {"o"},
                    {make_node("Relu", {"a"}, {"t"}), make_node("Z", {"t"}, {"o"}, "", {}, "other")});
  f.clear_opset_import();
  auto m = with({f});
  m.opset("other", 4).input("x").node(call("F", {"x"}, {"y"})).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(find_node(*model->graph, "Relu")->version, 17);
  EXPECT_EQ(find_node(*model->graph, "Z")->version, 4);
}

TEST(Functions, Nest) {
  auto m = with(
      {function("Outer", {"a"}, {"o"},
                {call("Inner", {"a"}, {"m"}, "i1"), call("Inner", {"m"}, {"o"}, "i2")}),
       function("Inner", {"a"}, {"o"}, {make_node("Abs", {"a"}, {"t"}), make_node("Relu", {"t"}, {"o"})})});
  m.input("x").node(call("Outer", {"x"}, {"y"}, "top")).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph),
            "Abs(x)->top/i1/t\nRelu(top/i1/t)->top/m\nAbs(top/m)->top/i2/t\nRelu(top/i2/t)->y\n");
}

TEST(Functions, ValuesOfCallsOfOneNameStayApart) {
  auto m =
      with({function("F", {"a"}, {"o"}, {make_node("Abs", {"a"}, {"t"}), make_node("Relu", {"t"}, {"o"})})});
  m.input("x")
      .node(call("F", {"x"}, {"p"}, "f"))
      .node(call("F", {"p"}, {"q"}, "f"))
      .node("Neg", {"q"}, {"f/t_2"});
  m.output("f/t_2");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph),
            "Abs(x)->f/t\nRelu(f/t)->p\nAbs(p)->f/t_3\nRelu(f/t_3)->q\nNeg(q)->f/t_2\n");
}

TEST(Functions, AttributeReferencesAndDefaults) {
  auto f = function("F", {"a"}, {"o"},
                    {make_node("Op", {"a"}, {"o"}, "op",
                               {reference("given", A::INT, "alpha"), reference("defaulted", A::INT, "beta"),
                                reference("overridden", A::INT, "gamma"),
                                reference("absent", A::INT, "delta"), int_attribute("fixed", 4)})},
                    {"alpha", "delta"});
  set_default(&f, int_attribute("beta", 20));
  set_default(&f, int_attribute("gamma", 30));
  auto outer = function(
      "G", {"a"}, {"o"},
      {call("F", {"a"}, {"o"}, "f", {reference("alpha", A::INT, "k"), int_attribute("gamma", 33)})}, {"k"});
  auto m = with({f, outer});
  m.input("x").node(call("G", {"x"}, {"y"}, "g", {int_attribute("k", 10)})).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  const ir::Attributes& a = find_node(*model->graph, "Op")->attrs;
  EXPECT_EQ(a.get_int("given", 0), 10);
  EXPECT_EQ(a.get_int("defaulted", 0), 20);
  EXPECT_EQ(a.get_int("overridden", 0), 33);
  EXPECT_FALSE(a.has("absent"));
  EXPECT_EQ(a.get_int("fixed", 0), 4);
}

TEST(Functions, TensorDefaultsAreFoundInTheFile) {
  auto f =
      function("F", {}, {"o"}, {make_node("Constant", {}, {"o"}, "c", {reference("value", A::TENSOR, "v")})});
  auto value = attribute("v", A::TENSOR);
  *value.mutable_t() = raw_tensor<float>("", DType::F32, {2}, {1.25f, 2.5f});
  set_default(&f, value);
  auto m = with({f});
  m.node(call("F", {}, {"y"})).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_THAT(to_doubles(*find_node(*model->graph, "Constant")->attrs.get_tensor("value")),
              testing::ElementsAre(1.25f, 2.5f));
}

TEST(Functions, Overloads) {
  auto one = function("F", {"a"}, {"o"}, {make_node("Abs", {"a"}, {"o"})});
  auto two = function("F", {"a"}, {"o"}, {make_node("Relu", {"a"}, {"o"})});
  set_unknown(&two, 13, "v2");
  auto m = with({one, two});
  auto second = call("F", {"p"}, {"y"});
  set_unknown(&second, 8, "v2");
  m.input("x").node(call("F", {"x"}, {"p"})).node(second).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph), "Abs(x)->p\nRelu(p)->y\n");
}

TEST(Functions, UnsortedBodiesAbsentInputsAndPassedThroughValues) {
  auto m = with({function("F", {"a", "b"}, {"same", "r", "r", "unused"},
                          {make_node("Clip", {"t", "b"}, {"r"}), make_node("Abs", {"a"}, {"t"}),
                           make_node("Neg", {"a"}, {"unused"})}),
                 function("P", {"same"}, {"same"}, {})});
  m.input("x").node(call("F", {"x"}, {"s", "r1", "r2"}, "f")).node(call("P", {"x"}, {"z"}, "p"));
  m.output("r1").output("r2").output("z");
  *m.proto.mutable_functions(0)->mutable_output(0) = "a";
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(
      outline(*model->graph),
      "Abs(x)->f/t\nClip(f/t,_)->r1\nNeg(x)->f/unused\nIdentity(x)->s\nIdentity(r1)->r2\nIdentity(x)->z\n");
}

TEST(Functions, GraphAttributesMeanWhatTheCallerMeans) {
  // The function has a value "v" too; the branch that the caller hands over reads the caller's.
  onnx::GraphProto branch;
  *branch.add_node() = make_node("Neg", {"v"}, {"r"});
  branch.add_output()->set_name("r");
  auto m = with({function("F", {"c"}, {"o"},
                          {make_node("Not", {"c"}, {"v"}),
                           make_node("If", {"v"}, {"o"}, "if", {reference("then_branch", A::GRAPH, "body")})},
                          {"body"})});
  m.input("c", DType::Bool, {})
      .input("x")
      .node(call("F", {"c"}, {"y"}, "f", {graph_attribute("body", branch)}));
  m.node("Abs", {"x"}, {"v"}).output("y");
  const auto model = load(m);
  ASSERT_LOADS(model);
  EXPECT_EQ(outline(*model->graph), "Abs(x)->v\nNot(c)->f/v\nIf(f/v)->y\n");
  const auto body = find_node(*model->graph, "If")->attrs.get_graph("then_branch");
  EXPECT_EQ(find_node(*body, "Neg")->input(0)->producer()->op_type, "Abs");
}

TEST(Functions, InsideSubgraphsSeeTheirArgumentsOnly) {
  onnx::GraphProto branch;
  *branch.add_node() = call("F", {"x"}, {"r"}, "f");
  branch.add_output()->set_name("r");
  auto m = with({function("F", {"a"}, {"o"}, {make_node("Add", {"a", "x"}, {"o"}, "add")})});
  m.input("c", DType::Bool, {})
      .input("x")
      .node("If", {"c"}, {"y"}, "if", {graph_attribute("then_branch", branch)});
  m.output("y");
  expect_refused(load(m), "E10041", "'if.then_branch/f/add' (Add)", "input 1", "'x'");
  *m.proto.mutable_functions(0)->mutable_node(0)->mutable_input(1) = "a";
  const auto model = load(m);
  ASSERT_LOADS(model);
  const auto body = find_node(*model->graph, "If")->attrs.get_graph("then_branch");
  EXPECT_EQ(outline(*body), "Add(x,x)->r\n");
}

TEST(Functions, Refusals) {
  const auto refused = [](ModelBuilder m, const std::string& why, const std::string& more) {
    m.input("x").output("y");
    expect_refused(load(m), "E10041", why, more);
  };
  auto recursive = with({function("F", {"a"}, {"o"}, {call("G", {"a"}, {"o"})}),
                         function("G", {"a"}, {"o"}, {call("F", {"a"}, {"o"})})});
  recursive.node(call("F", {"x"}, {"y"}));
  refused(recursive, "call themselves", "local.F -> local.G");
  auto self = with({function("F", {"a"}, {"o"}, {call("F", {"a"}, {"o"})})});
  self.node(call("F", {"x"}, {"y"}));
  refused(self, "call themselves", "local.F -> local.F");
  auto twice = with({function("F", {}, {}, {}), function("F", {}, {}, {})});
  refused(twice, "'local.F'", "defined twice");
  auto many = with({function("F", {"a"}, {"o"}, {make_node("Abs", {"a"}, {"o"})})});
  many.node(call("F", {"x", "x"}, {"y"}, "f"));
  refused(many, "'f' (local.F) has 2 inputs", "has 1 and 1");
  auto undefined = with({function("F", {"a"}, {"o"}, {make_node("Abs", {"a"}, {"resalt"})})});
  undefined.proto.mutable_functions(0)->set_output(0, "result");
  undefined.node(call("F", {"x"}, {"y"}, "f"));
  refused(undefined, "result 0 of function 'local.F'", "did you mean 'resalt'");
  auto kinds = with({function(
      "F", {"a"}, {"o"}, {make_node("Op", {"a"}, {"o"}, "op", {reference("k", A::FLOAT, "k")})}, {"k"})});
  kinds.node(call("F", {"x"}, {"y"}, "f", {int_attribute("k", 1)}));
  refused(kinds, "'f/op' (Op)", "kind FLOAT, but function attribute 'k' of kind INT");
  auto broken = function("F", {"a"}, {"o"}, {});
  set_unknown(&broken, 11, "\x0a\x01k\x2a\x01\x08");
  EXPECT_FALSE(load(with({broken}).input("x").output("x")).ok());
}

TEST(Functions, ExplodingCallsAreRefused) {
  std::vector<onnx::FunctionProto> functions;
  for (int i = 0; i < 40; ++i) {
    const std::string next = "F" + std::to_string(i + 1);
    functions.push_back(function("F" + std::to_string(i), {"a"}, {"o"},
                                 {call(next, {"a"}, {"t"}), call(next, {"t"}, {"o"})}));
  }
  functions.push_back(function("F40", {"a"}, {"o"}, {}));
  *functions.back().mutable_output(0) = "a";
  auto m = with(functions);
  m.input("x").node(call("F0", {"x"}, {"y"})).output("y");
  expect_refused(load(m), "E10041", "nodes once its functions are inlined");
}

}  // namespace
}  // namespace atc::frontend
