#include "matchers.h"
#include "model_builder.h"

namespace atc::frontend {
namespace {

onnx::TensorProto external(const std::string& name, const Dims& dims, const std::string& location,
                           const std::string& offset = {}, const std::string& length = {}) {
  auto t = make_tensor(name, DType::F32, dims);
  t.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    auto* entry = t.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  add("location", location);
  add("offset", offset);
  add("length", length);
  add("checksum", "0123");
  return t;
}

std::string floats(std::initializer_list<float> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)};
}

StatusOr<ir::Model> load_with(const TempFolder& folder, const onnx::TensorProto& tensor) {
  ModelBuilder m;
  m.initializer(tensor).output(tensor.name());
  return import_model(folder.write("model/m.onnx", m.serialized()));
}

TEST(ExternalData, IsAViewMappedOnce) {
  TempFolder folder;
  folder.write("model/data/w.bin", floats({1, 2, 3, 4}));
  ModelBuilder m;
  m.initializer(external("a", {2}, "data/w.bin", "0", "8"));
  m.initializer(external("b", {2}, "./data/../data/w.bin", "8"));
  m.initializer(external("empty", {0}, "data/w.bin", "16", "0"));
  m.output("a").output("b");
  const auto model = import_model(folder.write("model/m.onnx", m.serialized()));
  ASSERT_LOADS(model);
  const Tensor& a = model->graph->outputs()[0]->constant();
  const Tensor& b = model->graph->outputs()[1]->constant();
  EXPECT_THAT(a.as<float>(), testing::ElementsAre(1, 2));
  EXPECT_THAT(b.as<float>(), testing::ElementsAre(3, 4));
  EXPECT_EQ(a.data.data() + 8, b.data.data());
}

TEST(ExternalData, MisalignedBytesAreReadAllTheSame) {
  TempFolder folder;
  folder.write("model/w.bin", "x" + floats({1.5f, 2.5f}));
  const auto model = load_with(folder, external("w", {2}, "w.bin", "1", "8"));
  ASSERT_LOADS(model);
  const Tensor& w = model->graph->outputs()[0]->constant();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.data.data()) % 4, 1u);
  EXPECT_THAT(to_doubles(w), testing::ElementsAre(1.5, 2.5));
  EXPECT_THAT(aligned(w).as<float>(), testing::ElementsAre(1.5f, 2.5f));
}

TEST(ExternalData, IsRelativeToTheModelWhereverItIsCalledFrom) {
  TempFolder folder;
  folder.write("w.bin", floats({1}));
  ModelBuilder m;
  m.initializer(external("w", {1}, "w.bin")).output("w");
  ASSERT_LOADS(load(m, folder.path()));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  folder.write("m.onnx", m.serialized());
  const auto here = import_model("m.onnx");
  std::filesystem::current_path(before);
  ASSERT_LOADS(here);
}

TEST(ExternalData, MayNotLeaveTheFolder) {
  TempFolder folder;
  const auto secret = folder.write("secret.bin", floats({1}));
  folder.write("model-other/w.bin", floats({1}));
  folder.write("model/own.bin", floats({1}));
  std::filesystem::create_symlink(secret, folder.path() / "model" / "link.bin");
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "model" / "up");
  std::filesystem::create_symlink("own.bin", folder.path() / "model" / "inside.bin");
  const auto refused = [&](const std::string& location, const std::string& why) {
    expect_refused(load_with(folder, external("w", {1}, location)), "E10041", "initializer 'w'", location,
                   why);
  };
  refused("../secret.bin", "leaves the folder");
  refused("x/../../secret.bin", "leaves the folder");
  refused("../model-other/w.bin", "leaves the folder");
  refused(secret.string(), "absolute");
  refused("link.bin", "link that leaves");
  refused("up/secret.bin", "link that leaves");
  refused(".", "not a regular file");
  refused("..", "leaves the folder");
  ASSERT_LOADS(load_with(folder, external("w", {1}, "inside.bin")));
  ASSERT_LOADS(load_with(folder, external("w", {1}, "up/model/own.bin")));
}

TEST(ExternalData, Refusals) {
  TempFolder folder;
  folder.write("model/w.bin", floats({1, 2}));
  folder.write("model/empty.bin", "");
  const auto refused = [&](const onnx::TensorProto& t, const std::string& code, const std::string& why) {
    expect_refused(load_with(folder, t), code, "'w'", why);
  };
  refused(external("w", {1}, "missing.bin"), "E13000", "missing.bin");
  refused(external("w", {1}, ""), "E10041", "without a location");
  refused(external("w", {3}, "w.bin"), "E10041", "8 bytes");
  refused(external("w", {1}, "empty.bin"), "E10041", "0 bytes");
  refused(external("w", {1}, "w.bin", "8"), "E10041", "8 bytes");
  refused(external("w", {1}, "w.bin", "18446744073709551615"), "E10041", "8 bytes");
  refused(external("w", {1}, "w.bin", "0", "8"), "E10041", "length is 8");
  refused(external("w", {1}, "w.bin", "-4"), "E10041", "'-4'");
  refused(external("w", {1}, "w.bin", "0x4"), "E10041", "'0x4'");
  refused(external("w", {1}, "w.bin", "99999999999999999999999"), "E10041", "not a number");
  refused(external("w", {1}, std::string("w.bin\0.txt", 10)), "E10041", "not a file name");
  auto text = external("w", {1}, "w.bin");
  text.set_data_type(onnx::TensorProto::STRING);
  refused(text, "E10041", "string_data");
}

}  // namespace
}  // namespace atc::frontend
