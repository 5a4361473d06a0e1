#include "frontend/onnx/wire.h"

#include <gtest/gtest.h>

#include "model_builder.h"

namespace atc::frontend {
namespace {

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Puts the data back where the skeleton points to.
void restore(onnx::TensorProto& tensor, const std::string& file) {
  if (!tensor.has_raw_data()) return;
  const auto span = decode_raw_span(tensor.raw_data());
  ASSERT_TRUE(span);
  ASSERT_LE(span->offset + span->size, file.size());
  tensor.set_raw_data(file.substr(span->offset, span->size));
}

onnx::TensorProto floats(const std::string& name, std::size_t n) {
  return raw_tensor<float>(name, DType::F32, {static_cast<std::int64_t>(n)}, std::vector<float>(n, 1.5f));
}

onnx::GraphProto body_with_tensor() {
  onnx::GraphProto g;
  *g.add_initializer() = floats("inner", 5);
  return g;
}

TEST(Wire, LeavesRawDataOutEverywhereAndKeepsTheRest) {
  ModelBuilder m;
  m.input("x").output("y");
  m.initializer(floats("w", 300));
  auto* sparse = m.graph()->add_sparse_initializer();
  *sparse->mutable_values() = floats("s", 7);
  *sparse->mutable_indices() = raw_tensor<std::int64_t>("", DType::I64, {1}, {3});
  sparse->add_dims(9);
  auto t = attribute("t", onnx::AttributeProto::TENSOR);
  *t.mutable_t() = floats("a", 3);
  auto list = attribute("l", onnx::AttributeProto::TENSORS);
  *list.add_tensors() = floats("b", 2);
  m.node("If", {"x"}, {"y"}, "n", {t, list, graph_attribute("g", body_with_tensor())});
  *m.proto.add_functions()->add_node() = make_node("Constant", {}, {"c"}, "c", {t});

  const std::string file = m.serialized();
  const Skeleton skeleton = strip_raw_data(as_bytes(file));
  ASSERT_FALSE(skeleton.fault);
  EXPECT_LT(skeleton.bytes.size(), 800u);

  onnx::ModelProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(skeleton.bytes));
  auto* g = parsed.mutable_graph();
  restore(*g->mutable_initializer(0), file);
  restore(*g->mutable_sparse_initializer(0)->mutable_values(), file);
  restore(*g->mutable_sparse_initializer(0)->mutable_indices(), file);
  auto* attributes = g->mutable_node(0)->mutable_attribute();
  restore(*attributes->Mutable(0)->mutable_t(), file);
  restore(*attributes->Mutable(1)->mutable_tensors(0), file);
  restore(*attributes->Mutable(2)->mutable_g()->mutable_initializer(0), file);
  restore(*parsed.mutable_functions(0)->mutable_node(0)->mutable_attribute(0)->mutable_t(), file);
  EXPECT_EQ(parsed.SerializeAsString(), file);
}

TEST(Wire, DropsWhatTheCompilerDoesNotRead) {
  ModelBuilder m;
  m.input("x").output("x");
  const std::string lean = m.serialized();
  m.proto.set_doc_string(std::string(1000, 'd'));
  *m.graph()->add_value_info() = make_input("stale", DType::F32, {"7"});
  m.proto.add_training_info();
  m.graph()->set_doc_string("doc");
  m.proto.add_metadata_props()->set_key("k");
  EXPECT_EQ(strip_raw_data(as_bytes(m.serialized())).bytes, strip_raw_data(as_bytes(lean)).bytes);
}

TEST(Wire, TellsTruncationFromGarbage) {
  ModelBuilder m;
  m.input("x").output("x").initializer(floats("w", 10));
  const std::string file = m.serialized();
  const Skeleton cut = strip_raw_data(as_bytes(file.substr(0, file.size() - 30)));
  ASSERT_TRUE(cut.fault);
  EXPECT_EQ(cut.fault->kind, WireFault::Kind::Truncated);
  for (const std::string& garbage :
       {std::string("\x0f\x01"), std::string("\x0c\x0c"), std::string("\x00\x01", 2),
        std::string("\x08") + std::string(11, '\xff')}) {
    const Skeleton bad = strip_raw_data(as_bytes(garbage));
    ASSERT_TRUE(bad.fault);
    EXPECT_EQ(bad.fault->kind, WireFault::Kind::Malformed);
  }
  // A length beyond 64 bits of file is no overflow.
  const Skeleton huge = strip_raw_data(as_bytes("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  ASSERT_TRUE(huge.fault);
  EXPECT_EQ(huge.fault->kind, WireFault::Kind::Truncated);
}

TEST(Wire, SkipsGroupsAndUnknownFields) {
  ModelBuilder m;
  m.input("x").output("x");
  const std::string file = m.serialized();
  // Field 100: a group with a varint and a nested group in it; field 101: a fixed64.
  const std::string group = "\xa3\x06\x08\x01\x13\x14\xa4\x06";
  const std::string fixed = "\xa9\x06" + std::string(8, 'x');
  const Skeleton skeleton = strip_raw_data(as_bytes(group + file + fixed));
  ASSERT_FALSE(skeleton.fault) << skeleton.fault->detail;
  EXPECT_EQ(skeleton.bytes, strip_raw_data(as_bytes(file)).bytes);
}

TEST(Wire, BoundsNesting) {
  onnx::GraphProto inner;
  inner.set_name("leaf");
  for (int i = 0; i < 40; ++i) {
    onnx::GraphProto outer;
    *outer.add_node() = make_node("If", {}, {}, "", {graph_attribute("b", inner)});
    inner = outer;
  }
  ModelBuilder m;
  *m.graph() = inner;
  const Skeleton skeleton = strip_raw_data(as_bytes(m.serialized()));
  ASSERT_TRUE(skeleton.fault);
  EXPECT_EQ(skeleton.fault->kind, WireFault::Kind::TooDeep);
  const std::string groups(300, '\x0b');  // each byte opens one more
  ASSERT_TRUE(strip_raw_data(as_bytes(groups)).fault);
}

TEST(Wire, PlaceholderIsExactlyWhatTheWalkWrites) {
  EXPECT_FALSE(decode_raw_span(""));
  EXPECT_FALSE(
      decode_raw_span("15 bytes of text"
                      "!"));
  const auto span = decode_raw_span(std::string("\x05\0\0\0\0\0\0\0\x07\x01\0\0\0\0\0\0", 16));
  ASSERT_TRUE(span);
  EXPECT_EQ(span->offset, 5u);
  EXPECT_EQ(span->size, 263u);
}

}  // namespace
}  // namespace atc::frontend
