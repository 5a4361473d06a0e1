#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "command.h"

// Real networks with known answers, where the folder of cases is there.
namespace atc::cli {
namespace {

constexpr const char* kNetworks =
    "models/mnist_cntk models/ppocr_cls models/ultraface_rfb320 models/yunet_n_320 models/yunet_n_dynamic "
    "models/speech_embedding models/wake_hello_deepa models/dnsmos_v8 models/big_fanout models/magika_v3_3 "
    "exported/mlp "
    "exported/mobilenet_v3_small exported/squeezenet1_1 exported/shufflenet_v2_x1_0 exported/unet_small "
    "exported/yolov5n_like exported/convln exported/bert_small exported/llama_prefill exported/llama_decode "
    "exported/llama_decode_dyn exported/lstm_cell";
constexpr int kNetworkCount = 22;

class Networks : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Networks, Verify) {
  if (cases().empty()) GTEST_SKIP() << "the folder of cases is not there";
  const auto [soc, precision] = GetParam();
  Scratch s;
  const Outcome o = run(program("omverify") + " --json " + (s / "r.json").string() + " --soc " + soc +
                            " --precision " + precision + " " + kNetworks,
                        cases());
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_NE(o.out.find(std::to_string(kNetworkCount) + " passed, 0 failed, 0 skipped"), std::string::npos)
      << o.out;
  // Weights rounded to fp16 alone cost the yunets more than the others.
  const std::string report = slurp(s / "r.json");
  int networks = 0;
  for (std::size_t at = 0; (at = report.find("\"min_cosine\": ", at)) != std::string::npos;
       ++at, ++networks) {
    const std::string name = report.substr(report.find("\"name\": \"", at) + 9, 7);
    EXPECT_GE(std::stod(report.substr(at + 14)), name == "yunet_n" ? 0.999 : 0.9995) << name;
  }
  EXPECT_EQ(networks, kNetworkCount);
}

INSTANTIATE_TEST_SUITE_P(Chips, Networks,
                         ::testing::Combine(::testing::Values("Ascend910B3", "Ascend310P3"),
                                            ::testing::Values("origin", "fp16")));

// 99 % of the multiply-accumulates and 90 % of the tasks are the AI Core's.
TEST(Networks, RunOnTheAiCore) {
  if (cases().empty()) GTEST_SKIP() << "the folder of cases is not there";
  Scratch s;
  for (const char* name :
       {"models/mnist_cntk", "models/ultraface_rfb320", "models/yunet_n_320", "models/wake_hello_deepa",
        "models/big_fanout", "exported/mlp", "exported/mobilenet_v3_small", "exported/squeezenet1_1",
        "exported/shufflenet_v2_x1_0", "exported/unet_small", "exported/yolov5n_like", "exported/convln",
        "exported/bert_small", "exported/llama_prefill", "exported/llama_decode", "exported/lstm_cell"}) {
    const Outcome o = run(program("atc") +
                              " --framework=5 --soc_version=Ascend310P3 --export_compile_stat=0 --output=net "
                              "--report=r.json --model=" +
                              (cases() / name / "model.onnx").string(),
                          s.path());
    ASSERT_EQ(o.code, 0) << name << o.out;
    const std::string r = slurp(s / "r.json");
    auto total = [&](const char* section, const char* engine) {
      const std::size_t at = r.find("\"" + std::string(section) + "\": {", r.find("\"totals\""));
      const std::size_t value = r.find("\"" + std::string(engine) + "\": ", at);
      return std::stod(r.substr(value + std::string(engine).size() + 4));
    };
    EXPECT_LE(total("macs", "AiCpu") * 99, total("macs", "AiCore")) << name;
    EXPECT_LE(total("tasks", "AiCpu") * 9, total("tasks", "AiCore")) << name;
    EXPECT_GT(total("macs", "AiCore"), 0) << name;
  }
}

// Operators that ONNX dropped are refused together.
TEST(Networks, UnknownOperatorsAreListedTogether) {
  if (cases().empty()) GTEST_SKIP() << "the folder of cases is not there";
  Scratch s;
  const Outcome o = run(program("atc") + " --framework=5 --soc_version=Ascend910B3 --output=net --model=" +
                            (cases() / "models/candy/model.onnx").string(),
                        s.path());
  EXPECT_EQ(o.code, 255);
  for (const char* word : {"E16002", "Affine", "Crop", "ImageScaler", "Solution: ", "replace it by Slice"})
    EXPECT_NE(o.out.find(word), std::string::npos) << o.out;
  EXPECT_EQ(s.files(), 0U);
}

// Once the shapes are bound, no arithmetic on shapes is left for the device.
TEST(Networks, ShapeArithmeticIsFolded) {
  if (cases().empty()) GTEST_SKIP() << "the folder of cases is not there";
  Scratch s;
  std::filesystem::create_directory(s / "ir");
  const std::string shapes =
      "input_ids:1,1;position_ids:1,1;attention_mask:1,1,1,32;past.0.key:1,4,31,32;past.0.value:1,4,31,32;"
      "past.1.key:1,4,31,32;past.1.value:1,4,31,32";
  const Outcome o = run(
      program("atc") +
          " --framework=5 --soc_version=Ascend910B3 --export_compile_stat=0 --output=net --input_shape=\"" +
          shapes + "\" --print-ir-after=common-subexpression --dump-dir=ir --model=" +
          (cases() / "exported/llama_decode_dyn/model.onnx").string(),
      s.path());
  ASSERT_EQ(o.code, 0) << o.out;
  std::vector<std::filesystem::path> dumps;
  for (const auto& f : std::filesystem::directory_iterator(s / "ir")) dumps.push_back(f.path());
  std::sort(dumps.begin(), dumps.end());
  ASSERT_GE(dumps.size(), 2U);
  const std::string before = slurp(dumps.front()), after = slurp(dumps.back());
  for (const char* op : {"= Shape@", "= ConstantOfShape@", "= Equal@", "= Where@", "= Constant@"}) {
    EXPECT_NE(before.find(op), std::string::npos) << op;
    EXPECT_EQ(after.find(op), std::string::npos) << op;
  }
  // The rows of the embedding and of the two rotary tables.
  std::size_t gathers = 0;
  for (std::size_t at = after.find("= Gather@"); at != std::string::npos;
       at = after.find("= Gather@", at + 1))
    ++gathers;
  EXPECT_EQ(gathers, 3U);
}

// An axis that stays open names the input, the axis and the option.
TEST(Networks, OpenAxesAskForInputShape) {
  if (cases().empty()) GTEST_SKIP() << "the folder of cases is not there";
  Scratch s;
  const std::string yunet = " --framework=5 --soc_version=Ascend910B3 --export_compile_stat=0 --model=" +
                            (cases() / "models/yunet_n_dynamic/model.onnx").string();
  const Outcome open = run(program("atc") + yunet + " --output=net", s.path());
  EXPECT_EQ(open.code, 255);
  for (const char* word : {"E10001", "input", "--input_shape"})
    EXPECT_NE(open.out.find(word), std::string::npos) << open.out;
  // One dynamic model serves any batch and size.
  for (const char* shape : {"2,3,320,320", "1,3,160,224"})
    EXPECT_EQ(run(program("atc") + yunet + " --output=net --input_shape=input:" + shape + " && " +
                      program("omrun") + " --model net.om",
                  s.path())
                  .code,
              0)
        << shape;
}

}  // namespace
}  // namespace atc::cli
