#include <gtest/gtest.h>

#include "command.h"

namespace atc::cli {
namespace {

/// lenet5 compiled to <name>.om and <name>.json.
void compile(const Scratch& s, const std::string& name, const std::string& precision) {
  const Outcome o = run(
      program("atc") +
          " --framework=5 --soc_version=Ascend910B3 --export_compile_stat=1 --model=" + model("lenet5.onnx") +
          " --output=" + name + " --report=" + name + ".json --precision_mode_v2=" + precision,
      s.path());
  ASSERT_EQ(o.code, 0) << o.out;
}

TEST(OmDiff, TellsWhatChangedAndHoldsThresholds) {
  Scratch s;
  compile(s, "a", "fp16");
  compile(s, "b", "origin");
  const auto diff = [&](const std::string& arguments) {
    return run(program("omdiff") + " " + arguments, s.path());
  };
  EXPECT_EQ(diff("a.om a.om").out, "no difference\n");
  EXPECT_EQ(diff("a.om a.om --max-latency-increase 0 --max-memory-increase 0%").code, 0);
  const Outcome grown = diff("a.om b.om --max-weight-increase 50%");
  EXPECT_EQ(grown.code, 1);
  EXPECT_NE(grown.out.find("weights (bytes)"), std::string::npos) << grown.out;
  EXPECT_NE(grown.out.find("the weights grew by"), std::string::npos) << grown.out;
  EXPECT_EQ(diff("b.om a.om --max-weight-increase 50%").code, 0);
  // One weight: they are most of the file.
  std::string om = slurp(s / "a.om");
  om[om.size() / 2] = static_cast<char>(om[om.size() / 2] + 1);
  std::ofstream(s / "w.om", std::ios::binary) << om;
  EXPECT_EQ(diff("a.om w.om").out, "weights: contents differ\n");
  // Reports instead of models, and one of each.
  EXPECT_EQ(diff("a.json b.json --max-weight-increase 50%").code, 1);
  EXPECT_EQ(diff("a.om b.json").code, 0);
  EXPECT_EQ(diff("a.json b.json --format md").out.rfind("| |", 0), 0U);
  EXPECT_EQ(diff("a.json b.json --format json").out.rfind("{", 0), 0U);
  EXPECT_EQ(diff("a.json a.json --require-fusion NoSuchFusionPass").code, 1);
}

TEST(OmDiff, ErrorsAreTwo) {
  Scratch s;
  compile(s, "a", "fp16");
  for (const char* arguments :
       {"", "a.om", "a.om none.om", "a.om /dev/null", "a.om a.om --format xml",
        "a.om a.om --max-task-increase five", "a.om a.om --max-latency-increase ''",
        "a.om a.om --max-latency-increase inf", "/dev/zero a.om", "a.om a.om --max-task-increase -1%",
        "fusion_result.json fusion_result.json --max-latency-increase 5%", "a.om a.om --require-fusion X"}) {
    const Outcome o = run(program("omdiff") + " " + arguments, s.path());
    EXPECT_EQ(o.code, 2) << arguments << "\n" << o.out;
    EXPECT_NE(o.out.find("omdiff: error: "), std::string::npos) << arguments << "\n" << o.out;
  }
}

}  // namespace
}  // namespace atc::cli
