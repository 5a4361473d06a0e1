// Files that are no models, or not whole ones.
#include "matchers.h"
#include "model_builder.h"

namespace atc::frontend {
namespace {

ModelBuilder small_model() {
  ModelBuilder m;
  m.input("x", DType::F32, {"1", "2"});
  m.initializer(raw_tensor<float>("w", DType::F32, {2, 2}, {1, 2, 3, 4}));
  m.node("MatMul", {"x", "w"}, {"h"}, "mm").node("Relu", {"h"}, {"y"}, "act").output("y");
  return m;
}

TEST(Files, LoadFromDisk) {
  TempFolder folder;
  const auto file = folder.write("net.onnx", small_model().serialized());
  const auto model = import_model(file);
  ASSERT_LOADS(model);
  EXPECT_EQ(model->file, file.string());
  EXPECT_EQ(outline(*model->graph), "MatMul(x,w)->h\nRelu(h)->y\n");
}

TEST(Files, TheModelOutlivesTheFile) {
  TempFolder folder;
  auto tensor = raw_tensor<std::uint8_t>("w", DType::U8, {3}, {1, 2, 3});
  ModelBuilder m;
  m.initializer(tensor).output("w");
  const auto file = folder.write("net.onnx", m.serialized());
  auto model = import_model(file);
  std::filesystem::remove(file);
  ASSERT_LOADS(model);
  EXPECT_THAT(model->graph->outputs()[0]->constant().as<std::uint8_t>(), testing::ElementsAre(1, 2, 3));
}

TEST(Files, Unreadable) {
  TempFolder folder;
  expect_refused(import_model(folder.path() / "none.onnx"), "E13000", "none.onnx");
  EXPECT_FALSE(import_model(folder.path()).ok());
  expect_refused(import_model(folder.write("empty.onnx", "")), "E10041", "empty.onnx", "is empty");
}

TEST(Files, SayWhatTheyLookLike) {
  const auto refused = [](const std::string& content, const std::string& what) {
    const auto result = load(content);
    expect_refused(result, "E10041", "m.onnx", what);
    EXPECT_TRUE(result.ok() || !result.status().diagnostic().solution.empty());
  };
  refused("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git LFS pointer");
  refused("PK\x03\x04" + std::string(60, 'z'), "zip archive");
  refused("\n<!DOCTYPE HTML><html><body>404</body></html>", "HTML page");
  refused("<HTML>", "HTML page");
  refused("{\"error\": 1}", "JSON");
  refused("ir_version: 8\ngraph {}\n", "text form");
  refused("layer { name: \"a\" }", "Caffe");
  refused(std::string("\x1c\0\0\0TFL3\0\0\0\0", 12), "TensorFlow Lite");
  refused("IMOD" + std::string(252, '\0'), ".om");
  refused("\x89HDF\r\n\x1a\n", "HDF5");
  refused(std::string("\x80\x02\x8a\x0al\xfc", 6), "pickle");
  refused("\x1f\x8b\x08" + std::string(20, 'q'), "gzip");
  refused(std::string(257, '\0') + "ustar", "tar archive");
  refused("just some words\n", "not an ONNX model");
  refused(std::string(100, '\0'), "not an ONNX model");
  refused(std::string(100, '\xff'), "not an ONNX model");
  // A TensorFlow GraphDef: node { name: "in" op: "Placeholder" }, versions {}.
  refused(std::string("\x0a\x11\x0a\x02in\x12\x0bPlaceholder", 19) + std::string("\x22\x00", 2),
          "TensorFlow graph");
  // A SavedModel: version 1, a MetaGraphDef that begins with its meta information.
  refused(std::string("\x08\x01\x12\x04\x0a\x02\x22\x00", 8), "SavedModel");
}

TEST(Files, SayWhereTheyEnd) {
  const std::string whole = small_model().serialized();
  const auto cut = load(whole.substr(0, whole.size() / 2));
  expect_refused(cut, "E10041", "truncated", "file ends at byte " + std::to_string(whole.size() / 2));
  EXPECT_NE(cut.status().diagnostic().solution, "");
}

TEST(Files, NeverLoadWhenCutAnywhere) {
  const std::string whole = small_model().serialized();
  ASSERT_LOADS(load(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto result = load(whole.substr(0, size));
    ASSERT_FALSE(result.ok()) << "cut to " << size << " of " << whole.size() << " bytes";
    const Diagnostic& d = result.status().diagnostic();
    EXPECT_THAT(d.code, testing::AnyOf("E10041", "E16001", "E16004", "E16005"));
    EXPECT_THAT(d.message, testing::HasSubstr("m.onnx"));
  }
}

TEST(Files, NestedTooDeeply) {
  onnx::GraphProto inner;
  for (int i = 0; i < 60; ++i) {
    onnx::GraphProto outer;
    *outer.add_node() = make_node("If", {}, {}, "", {graph_attribute("b", inner)});
    inner = outer;
  }
  ModelBuilder m;
  *m.graph() = inner;
  expect_refused(load(m), "E10041", "nested");
}

}  // namespace
}  // namespace atc::frontend
