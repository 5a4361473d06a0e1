#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "command.h"

// Networks that PyTorch exported, as they are, with the examples' operators in them.
namespace atc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The examples that LLaMA takes, built once for all tests.
const Scratch& libraries() {
  static const Scratch s;
  static const bool built = [] {
    for (const char* example : {"rope", "rms_norm", "swiglu"}) {
      fs::copy(fs::path(ATC_SOURCE_DIR) / "models/custom_ops" / example, s / example,
               fs::copy_options::recursive);
      const Outcome o = run(program("msopgen") + " compile -i " + example, s.path());
      EXPECT_EQ(o.code, 0) << o.out;
    }
    return true;
  }();
  EXPECT_TRUE(built);
  return s;
}

std::string library(const std::string& example) {
  return (libraries() / (example + "/build_out/lib" + example + ".so")).string();
}

class CustomLlama : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (cases().empty()) GTEST_SKIP() << "the folder of cases is not there";
    folder_ = cases() / "exported" / GetParam();
    for (int i = 0; fs::exists(data("input", i)); ++i)
      inputs_ += (i == 0 ? "" : ",") + data("input", i).string();
    for (outputs_ = 0; fs::exists(data("output", outputs_));) ++outputs_;
    ASSERT_GT(outputs_, 0);
  }
  fs::path data(const std::string& what, int i) const {
    return folder_ / "test_data_set_0" / (what + "_" + std::to_string(i) + ".pb");
  }
  std::string shapes() const {
    if (std::string(GetParam()) != "llama_decode_dyn") return {};
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(slurp(folder_ / "model.onnx")));
    std::string out;
    for (int i = 0; fs::exists(data("input", i)); ++i) {
      const onnx::TensorProto t = read(data("input", i));
      out += (i == 0 ? "" : ";") + model.graph().input(i).name() + ":";
      for (int d = 0; d < t.dims_size(); ++d) out += (d == 0 ? "" : ",") + std::to_string(t.dims(d));
    }
    return " --input_shape='" + out + "'";
  }
  static onnx::TensorProto read(const fs::path& path) {
    onnx::TensorProto t;
    EXPECT_TRUE(t.ParseFromString(slurp(path))) << path;
    return t;
  }
  static std::vector<float> floats(const std::string& bytes) {
    std::vector<float> out(bytes.size() / sizeof(float));
    std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
    return out;
  }
  Outcome compile(const std::string& name, const std::string& more) const {
    return run(program("atc") + " --framework=5 --export_compile_stat=0 --soc_version=Ascend910B3 --model=" +
                   (folder_ / "model.onnx").string() + " --output=" + name + shapes() + " " + more,
               s_.path());
  }
  std::vector<std::vector<float>> results(const std::string& name) const {
    const Outcome o = run(
        program("omrun") + " --model " + name + ".om --output " + name + " --input " + inputs_, s_.path());
    EXPECT_EQ(o.code, 0) << o.out;
    std::vector<std::vector<float>> out;
    for (int i = 0; i < outputs_; ++i)
      out.push_back(floats(slurp(s_ / (name + "/" + name + "_output_" + std::to_string(i) + ".bin"))));
    return out;
  }
  static void expect_close(const std::vector<float>& a, const std::vector<float>& b, double tolerance,
                           const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    ASSERT_FALSE(a.empty()) << what;
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(b[i])));
      worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
    EXPECT_LE(worst, tolerance * largest) << what;
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  }

  Scratch s_;
  fs::path folder_;
  std::string inputs_;
  int outputs_ = 0;
};

TEST_P(CustomLlama, RopeGivesTheSameNumbers) {
  for (const auto& [precision, tolerance] : {std::pair{"origin", 1e-5}, std::pair{"fp16", 5e-3}}) {
    const std::string mode = std::string("--precision_mode_v2=") + precision;
    ASSERT_EQ(compile("plain", mode).code, 0);
    const Outcome o = compile("custom", mode + " --report=r.json --custom_op=RoPE:" + library("rope"));
    ASSERT_EQ(o.code, 0) << o.out;
    // Queries and keys of both layers, by the names of the nodes that they stand for.
    const std::string report = slurp(s_ / "r.json");
    EXPECT_EQ(count(report, "\"pattern\": \"RoPE\""), 4U) << o.out;
    EXPECT_THAT(report, AllOf(HasSubstr("\"/blocks.1/Add_1\""), HasSubstr("\"/blocks.1/Neg\"")));
    const auto plain = results("plain"), custom = results("custom");
    for (int i = 0; i < outputs_; ++i) {
      const std::string what = std::string(precision) + " output " + std::to_string(i);
      const auto at = static_cast<std::size_t>(i);
      expect_close(custom[at], plain[at], tolerance, what);
      expect_close(custom[at], floats(read(data("output", i)).raw_data()), tolerance, what + ", reference");
    }
  }
}

TEST_P(CustomLlama, TakesAllOperatorsAtOnceAndAtEveryLevel) {
  const std::string all = "--precision_mode_v2=fp16 --report=r.json --custom_op=RoPE:" + library("rope") +
                          ",RmsNorm:" + library("rms_norm") + ",SwiGlu:" + library("swiglu");
  // Recognisers find the subgraphs whatever fusions are on.
  for (const char* level : {"", " --oo_level=O1"}) {
    const Outcome o = compile("custom", all + level);
    ASSERT_EQ(o.code, 0) << o.out;
    const std::string report = slurp(s_ / "r.json");
    EXPECT_EQ(count(report, "\"pattern\": \"RoPE\""), 4U);
    EXPECT_EQ(count(report, "\"pattern\": \"RmsNorm\""), 5U);
    EXPECT_EQ(count(report, "\"pattern\": \"SwiGlu\""), 2U);
    const auto custom = results("custom");
    for (int i = 0; i < outputs_; ++i)
      expect_close(custom[static_cast<std::size_t>(i)], floats(read(data("output", i)).raw_data()), 5e-3,
                   "output " + std::to_string(i) + level);
  }
}

INSTANTIATE_TEST_SUITE_P(Exported, CustomLlama,
                         ::testing::Values("llama_prefill", "llama_decode", "llama_decode_dyn"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace atc::cli
