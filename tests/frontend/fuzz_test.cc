// A short seeded search for inputs that break the importer; frontend_fuzz.cc searches longer.
#include <chrono>
#include <random>

#include "matchers.h"
#include "model_builder.h"

namespace atc::frontend {
namespace {

/// One model with every construct in it.
std::string rich_model() {
  ModelBuilder m;
  m.opset("local", 1);
  m.input("c", DType::Bool, {}).input("x", DType::F32, {"n", "2", ""});
  m.initializer(raw_tensor<float>("w", DType::F32, {2, 2}, {1, 2, 3, 4}));
  auto typed = make_tensor("t", DType::F16, {3});
  for (int i = 0; i < 3; ++i) typed.add_int32_data(0x3c00 + i);
  m.initializer(typed);
  auto packed = make_tensor("u", DType::U4, {3});
  packed.add_int32_data(0x21);
  packed.add_int32_data(0x03);
  m.initializer(packed);
  auto text = make_tensor("s", DType::String, {1});
  text.add_string_data("abc");
  m.initializer(text);
  auto outside = make_tensor("e", DType::F32, {1});
  outside.set_data_location(onnx::TensorProto::EXTERNAL);
  auto* location = outside.add_external_data();
  location->set_key("location");
  location->set_value("w.bin");
  m.initializer(outside);
  auto* sparse = m.graph()->add_sparse_initializer();
  *sparse->mutable_values() = raw_tensor<float>("z", DType::F32, {1}, {5});
  *sparse->mutable_indices() = raw_tensor<std::int64_t>("", DType::I64, {1}, {1});
  sparse->add_dims(3);

  onnx::FunctionProto f;
  f.set_domain("local");
  f.set_name("F");
  f.add_input("a");
  f.add_output("o");
  f.add_attribute("k");
  *f.add_node() = make_node("Abs", {"a"}, {"q"}, "abs", {reference("k", onnx::AttributeProto::INT, "k")});
  *f.add_node() = make_node("Add", {"q", "a"}, {"o"});
  *m.proto.add_functions() = f;

  onnx::GraphProto branch;
  branch.set_name("b");
  *branch.add_input() = make_input("i", DType::I64, {});
  *branch.add_node() = make_node("F", {"x"}, {"r"}, "", {int_attribute("k", 3)}, "local");
  branch.add_output()->set_name("r");
  m.node("If", {"c"}, {"y"}, "if",
         {graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)});
  m.node("Concat", {"y", "w", "", "t"}, {"v", ""}, "cat", {int_attribute("axis", 0)});
  m.output("v").output("e").output("z");
  return m.serialized();
}

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string operator()(std::string text) {
    const std::size_t edits = 1 + below(4);
    for (std::size_t i = 0; i < edits && !text.empty(); ++i) edit(text);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  void edit(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t count = 1 + below(std::min<std::size_t>(16, text.size() - at));
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 2:
        text.erase(at, count);
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, count));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, 1, static_cast<char>(below(2) == 0 ? 0xff : below(256)));
        break;
    }
  }

  std::mt19937 random_;
};

TEST(Fuzz, MutatedModelsLoadOrAreRefused) {
  TempFolder folder;
  folder.write("w.bin", "\x01\x02\x03\x04");
  const std::string seed = rich_model();
  ASSERT_LOADS(load(seed, folder.path()));
  Mutator mutate(20240229);
  std::size_t loaded = 0;
  std::size_t refused = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  for (std::size_t i = 0; i < 60000 && std::chrono::steady_clock::now() < deadline; ++i) {
    const auto model = load(mutate(seed), folder.path());
    if (model.ok()) {
      ASSERT_EQ(ir::verify(*model->graph), "") << "mutation " << i;
      ++loaded;
    } else {
      EXPECT_NE(model.status().diagnostic().message, "");
      ++refused;
    }
  }
  EXPECT_GT(loaded, 0u);
  EXPECT_GT(refused, 0u);
}

TEST(Fuzz, EveryPrefixIsRefusedOrLoads) {
  const std::string seed = rich_model();
  for (std::size_t size = 0; size < seed.size(); ++size) {
    const auto model = load(seed.substr(0, size));
    if (!model.ok()) continue;
    EXPECT_EQ(ir::verify(*model->graph), "") << "cut to " << size << " bytes";
  }
}

}  // namespace
}  // namespace atc::frontend
