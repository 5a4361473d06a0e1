#include "atc/ir/graph.h"

#include <gtest/gtest.h>

#include "atc/ir/text.h"
#include "atc/ir/verifier.h"

namespace atc::ir {
namespace {

Tensor one() { return scalar_tensor(DType::F32, 1); }

std::vector<std::string> order(const Graph& g) {
  std::vector<std::string> out;
  for (const auto& n : g.nodes()) out.push_back(n->name);
  return out;
}

Node* named(Graph& g, std::string name, std::vector<Value*> inputs) {
  Node* n = g.add_node("Op", std::move(inputs), 1);
  n->name = std::move(name);
  return n;
}

TEST(Graph, UseListsFollowTheInputs) {
  Graph g("g");
  Value* x = g.add_input("x", tensor_type(DType::F32, {1}));
  Value* y = g.add_input("y", tensor_type(DType::F32, {1}));
  Node* n = g.add_node("Add", {x, x}, 1);
  EXPECT_EQ(x->uses(), (std::vector<Value::Use>{{n, 0}, {n, 1}}));
  n->set_input(0, y);
  n->set_input(3, y);
  EXPECT_EQ(n->inputs().size(), 4u);
  EXPECT_EQ(n->input(2), nullptr);
  EXPECT_EQ(n->input(9), nullptr);
  EXPECT_EQ(y->uses(), (std::vector<Value::Use>{{n, 0}, {n, 3}}));
  n->resize_inputs(1);
  EXPECT_TRUE(x->uses().empty());
  EXPECT_EQ(verify(g), "");
}

TEST(Graph, ReplaceUsesReachesOutputsAndNestedGraphs) {
  Graph g("g");
  Value* x = g.add_input("x", {});
  Value* y = g.add_input("y", {});
  auto body = std::make_shared<Graph>("b", &g);
  Node* inner = body->add_node("Op", {x}, 1);
  body->add_output(x);
  g.add_node("If", {}, 1)->attrs.set("then_branch", body);
  g.add_output(x);
  g.replace_uses(x, y);
  EXPECT_EQ(inner->input(0), y);
  EXPECT_EQ(body->outputs()[0], y);
  EXPECT_EQ(g.outputs()[0], y);
  EXPECT_FALSE(g.is_used(x));
  EXPECT_EQ(verify(g), "");
}

TEST(Graph, SortIsStableAndSeesNestedUses) {
  Graph g("g");
  Node* a = named(g, "a", {});
  Node* b = named(g, "b", {});
  Node* c = named(g, "c", {});
  Node* d = named(g, "d", {a->output(0)});
  ASSERT_TRUE(g.sort());
  EXPECT_EQ(order(g), (std::vector<std::string>{"a", "b", "c", "d"}));
  auto body = std::make_shared<Graph>("body", &g);
  body->add_node("Op", {d->output(0)}, 1);
  b->attrs.set("body", body);
  EXPECT_NE(verify(g).find("used before it is computed"), std::string::npos);
  ASSERT_TRUE(g.sort());
  EXPECT_EQ(order(g), (std::vector<std::string>{"a", "c", "d", "b"}));
  EXPECT_EQ(verify(g), "");
  body->add_output(c->output(0));
  c->set_input(0, b->output(0));
  EXPECT_FALSE(g.sort()) << "b returns c's value, c reads b";
}

TEST(Graph, SweepRemovesDeadNodesAndConstants) {
  Graph g("g");
  Value* x = g.add_input("x", {});
  Value* dead_constant = g.add_constant("k", one());
  Node* live = named(g, "live", {x});
  Node* dead = named(g, "dead", {live->output(0), dead_constant});
  named(g, "deader", {dead->output(0)});
  auto body = std::make_shared<Graph>("body", &g);
  Node* kept_by_body = named(g, "kept", {x});
  body->add_output(kept_by_body->output(0));
  named(*body, "dead inside", {});
  Node* holder = named(g, "holder", {});
  holder->attrs.set("body", std::move(body));
  g.add_output(live->output(0));
  g.add_output(holder->output(0));
  EXPECT_EQ(g.sweep(), 3u);
  EXPECT_EQ(order(g), (std::vector<std::string>{"live", "kept", "holder"}));
  EXPECT_EQ(g.values().size(), 4u);
  EXPECT_EQ(g.sweep(), 0u);
  EXPECT_EQ(verify(g), "");
  // With the holder goes the node that only its body needed.
  g.set_output(1, live->output(0));
  EXPECT_EQ(g.sweep(), 2u);
  EXPECT_EQ(order(g), (std::vector<std::string>{"live"}));
}

TEST(Graph, ErasingANodeReleasesWhatItsBodyUsed) {
  Graph g("g");
  Value* x = g.add_input("x", {});
  Node* holder = g.add_node("If", {}, 0);
  auto body = std::make_shared<Graph>("body", &g);
  body->add_node("Op", {x, x}, 1);
  holder->attrs.set("then_branch", std::move(body));
  EXPECT_EQ(x->uses().size(), 2u);
  g.erase(holder);
  EXPECT_TRUE(x->uses().empty());
  EXPECT_EQ(verify(g), "");
}

TEST(Graph, ANestedGraphMayOutliveItsParent) {
  auto body = std::make_shared<Graph>("body");
  {
    Graph g("g");
    Value* x = g.add_input("x", {});
    body->set_parent(&g);
    body->add_node("Op", {x}, 1);
  }
  EXPECT_EQ(body->parent(), nullptr);
  EXPECT_EQ(body->nodes().front()->input(0), nullptr);
}

TEST(Graph, EraseRefusesUsedNodes) {
  Graph g("g");
  Node* a = named(g, "a", {});
  named(g, "b", {a->output(0)});
  EXPECT_THROW(g.erase(a), InternalError);
}

TEST(Graph, MakeConstantTakesTheValueFromItsNode) {
  Graph g("g");
  Node* a = named(g, "a", {});
  Value* v = a->output(0);
  v->type.format = Format::NC1HWC0;
  Node* b = named(g, "b", {v});
  g.make_constant(v, one());
  EXPECT_EQ(a->output(0), nullptr);
  EXPECT_TRUE(v->is_constant());
  EXPECT_EQ(v->type, tensor_type(DType::F32, {}));
  EXPECT_EQ(b->input(0), v);
  EXPECT_EQ(verify(g), "");
}

TEST(Graph, MoveOutputKeepsTheValue) {
  Graph g("g");
  Node* a = named(g, "a", {});
  Value* v = a->output(0);
  Node* b = g.add_node("New", {}, 0, a);
  named(g, "c", {v});
  g.move_output(a, 0, b, 1);
  EXPECT_EQ(v->producer(), b);
  EXPECT_EQ(v->output_index(), 1);
  EXPECT_EQ(b->output(0), nullptr);
  g.erase(a);
  EXPECT_EQ(verify(g), "");
}

TEST(Graph, InsertAndMoveBefore) {
  Graph g("g");
  Node* a = named(g, "a", {});
  Node* b = named(g, "b", {});
  g.move_before(b, a);
  g.add_node("Op", {}, 1, a)->name = "m";
  EXPECT_EQ(order(g), (std::vector<std::string>{"b", "m", "a"}));
}

TEST(Graph, CloneIsDeep) {
  Graph g("g");
  Value* x = g.add_input("x", tensor_type(DType::F32, {1}));
  Value* k = g.add_constant("k", one());
  Node* holder = named(g, "h", {x, k, nullptr});
  auto body = std::make_shared<Graph>("body", &g);
  body->add_output(body->add_node("Op", {x}, 1)->output(0));
  holder->attrs.set("body", body);
  g.add_output(holder->output(0));
  const auto copy = g.clone();
  EXPECT_EQ(print(*copy), print(g));
  EXPECT_EQ(verify(*copy), "");
  EXPECT_EQ(x->uses().size(), 2u) << "the source's use lists are its own";
  EXPECT_EQ(copy->values()[1]->constant().data.data(), k->constant().data.data()) << "constants share bytes";
  copy->nodes().front()->set_input(0, nullptr);
  EXPECT_EQ(holder->input(0), x);
}

TEST(Graph, Labels) {
  Graph g("g");
  Node* n = g.add_node("Conv", {}, 1);
  EXPECT_EQ(n->label(), "'#0' (Conv)");
  n->sources = {"#12"};
  EXPECT_EQ(n->label(), "'#12' (Conv)");
  n->name = "Conv_17";
  EXPECT_EQ(n->label(), "'Conv_17' (Conv)");
}

TEST(Attributes, TypedReads) {
  Attributes a;
  a.set("i", std::int64_t{3});
  a.set("f", 2.5f);
  a.set("s", std::string("x"));
  a.set("is", std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(a.get_int("i", 9), 3);
  EXPECT_EQ(a.get_int("f", 9), 9) << "of another type";
  EXPECT_EQ(a.get_float("f", 0), 2.5f);
  EXPECT_EQ(a.get_string("s", "d"), "x");
  EXPECT_EQ(a.get_string("none", "d"), "d");
  EXPECT_EQ(a.get_ints("is"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(a.get_tensor("i"), nullptr);
  EXPECT_EQ(a.get_graph("none"), nullptr);
  a.erase("i");
  EXPECT_FALSE(a.has("i"));
}

}  // namespace
}  // namespace atc::ir
