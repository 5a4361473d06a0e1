#include "atc/ir/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atc::ir {
namespace {

using testing::HasSubstr;

struct Small {
  Graph g{"g"};
  Value* x = g.add_input("x", tensor_type(DType::F32, {1, 2, 3}));
  Node* a = g.add_node("A", {x}, 1);
  Node* b = g.add_node("B", {a->output(0)}, 1);
  Small() { g.add_output(b->output(0)); }
};

TEST(Verifier, AcceptsASoundGraph) { EXPECT_EQ(verify(Small().g), ""); }

TEST(Verifier, Order) {
  Small s;
  s.g.move_before(s.b, s.a);
  EXPECT_THAT(verify(s.g), HasSubstr("'#1' (B): input 0 %1 is used before it is computed"));
}

TEST(Verifier, ForeignValues) {
  Small s;
  Graph other("other");
  s.a->set_input(0, other.add_input("o", {}));
  EXPECT_THAT(verify(s.g), HasSubstr("foreign graph"));
  s.a->set_input(0, s.x);
  s.g.set_output(0, other.inputs()[0]);
  EXPECT_THAT(verify(s.g), HasSubstr("is not a value of the graph"));
  s.g.set_output(0, nullptr);
  EXPECT_THAT(verify(s.g), HasSubstr("output 0 is missing"));
}

TEST(Verifier, ValuesOfANestedGraphStayInside) {
  Small s;
  auto body = std::make_shared<Graph>("body", &s.g);
  Value* inner = body->add_node("C", {}, 1)->output(0);
  s.a->attrs.set("body", body);
  EXPECT_EQ(verify(s.g), "");
  s.b->set_input(0, inner);
  EXPECT_THAT(verify(s.g), HasSubstr("foreign graph"));
}

TEST(Verifier, UseLists) {
  // A reader outside every verified graph: its use is in the list, the reader is nowhere.
  Small s;
  Graph loose("loose", &s.g);
  loose.add_node("C", {s.x}, 1);
  EXPECT_THAT(verify(s.g), HasSubstr("the use list of %0 'x' has 2 entries, its readers are 1"));
}

TEST(Verifier, NestedGraphs) {
  Small s;
  auto body = std::make_shared<Graph>("body");
  s.a->attrs.set("body", body);
  EXPECT_THAT(verify(s.g), HasSubstr("another parent"));
  body->set_parent(&s.g);
  s.b->attrs.set("body", body);
  EXPECT_THAT(verify(s.g), HasSubstr("held by two attributes"));
  s.b->attrs.set("body", std::shared_ptr<Graph>());
  EXPECT_THAT(verify(s.g), HasSubstr("attribute 'body' is a missing graph"));
}

TEST(Verifier, Formats) {
  Small s;
  s.x->type.format = Format::NC1HWC0;
  EXPECT_EQ(verify(s.g), "");
  s.x->type.shape = to_shape({4, 4});
  EXPECT_THAT(verify(s.g), HasSubstr("format NC1HWC0, which its shape does not allow"));
  s.x->type.format = Format::FRACTAL_NZ;
  EXPECT_EQ(verify(s.g), "");
  s.x->type.shape.reset();
  EXPECT_THAT(verify(s.g), HasSubstr("format FRACTAL_NZ"));
}

TEST(Verifier, Dims) {
  Small s;
  (*s.x->type.shape)[1] = Dim{2, "n"};
  EXPECT_THAT(verify(s.g), HasSubstr("neither a number nor a symbol"));
  (*s.x->type.shape)[1] = Dim{-1, ""};
  EXPECT_THAT(verify(s.g), HasSubstr("neither a number nor a symbol"));
  (*s.x->type.shape)[1] = Dim{-2, "n"};
  EXPECT_THAT(verify(s.g), HasSubstr("neither a number nor a symbol"));
}

TEST(Verifier, Constants) {
  Small s;
  Value* k = s.g.add_constant("k", MutableTensor(DType::F32, {2, 2}).freeze());
  EXPECT_EQ(verify(s.g), "");
  k->type.shape = to_shape({4});
  EXPECT_THAT(verify(s.g), HasSubstr("stores dims [2,2], its type f32[4] needs [4]"));
  k->type = tensor_type(DType::I32, {2, 2});
  EXPECT_THAT(verify(s.g), HasSubstr("is a constant of f32[2,2] with type i32[2,2]"));
  Tensor t = k->constant();
  t.shape = {3, 2};
  s.g.make_constant(k, t);
  EXPECT_THAT(verify(s.g), HasSubstr("has 16 bytes, its shape says 24"));
  t.shape = {-1, 2};
  s.g.make_constant(k, t);
  EXPECT_THAT(verify(s.g), HasSubstr("neither a number nor a symbol"));
  t.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  s.g.make_constant(k, t);
  EXPECT_THAT(verify(s.g), HasSubstr("impossible shape"));
  t.dtype = DType::String;
  t.shape = {1};
  s.g.make_constant(k, t);
  EXPECT_THAT(verify(s.g), HasSubstr("has 0 strings for 1 elements"));
}

TEST(Verifier, PackedConstants) {
  Small s;
  Value* k = s.g.add_constant("k", MutableTensor(DType::F16, {1, 2, 3, 16}).freeze(), Format::NC1HWC0);
  EXPECT_THAT(verify(s.g), HasSubstr("stores dims"));
  k->type.shape = to_shape({1, 20, 3});
  EXPECT_EQ(verify(s.g), "");
}

TEST(Verifier, TensorAttributes) {
  Small s;
  Tensor t = scalar_tensor(DType::F32, 1);
  t.shape = {2};
  s.a->attrs.set("value", t);
  EXPECT_THAT(verify(s.g), HasSubstr("attribute 'value' has 4 bytes, its shape says 8"));
  s.a->attrs.set("value", std::vector<Tensor>{t});
  EXPECT_THAT(verify(s.g), HasSubstr("attribute 'value' has 4 bytes"));
}

TEST(Verifier, NodesNeedATypeAndTheirOwnOutputs) {
  Small s;
  s.a->op_type.clear();
  EXPECT_THAT(verify(s.g), HasSubstr("has no operator type"));
  Small t;
  Value* v = t.a->output(0);
  t.g.move_output(t.a, 0, t.b, 1);
  EXPECT_THAT(verify(t.g), HasSubstr(std::string("'#1' (B): input 0 %") + std::to_string(v->id())));
}

}  // namespace
}  // namespace atc::ir
