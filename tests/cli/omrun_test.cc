#include <gtest/gtest.h>

#include "command.h"

namespace atc::cli {
namespace {

/// models/lenet5.onnx compiled to net.om in the folder.
::testing::AssertionResult compiles(const Scratch& s, const std::string& soc) {
  const Outcome o =
      run(program("atc") + " --framework=5 --export_compile_stat=0 --output=net --soc_version=" + soc +
              " --model=" + model("lenet5.onnx"),
          s.path());
  return o.code == 0 ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << o.out;
}

TEST(Omrun, ReadsTheDigit) {
  Scratch s;
  ASSERT_TRUE(compiles(s, "Ascend310P3"));
  const Outcome o = run(program("omrun") + " --model net.om --input " + model("lenet5_digit.npy") +
                            " --output out --outfmt TXT",
                        s.path());
  ASSERT_EQ(o.code, 0) << o.out;
  std::string text;
  for (const auto& f : std::filesystem::directory_iterator(s / "out")) text = slurp(f.path());
  std::istringstream in(text);
  std::vector<double> p;
  for (double v; in >> v;) p.push_back(v);
  ASSERT_EQ(p.size(), 10U) << text;
  EXPECT_EQ(std::max_element(p.begin(), p.end()) - p.begin(), 7) << text;
}

TEST(Omrun, OutputsDoNotDependOnThreads) {
  Scratch s;
  ASSERT_TRUE(compiles(s, "Ascend910B3"));
  for (const char* t : {"1", "2"})
    ASSERT_EQ(
        run(program("omrun") + " --model net.om --seed 5 --output out" + t + " --outfmt BIN --threads " + t,
            s.path())
            .code,
        0);
  for (const auto& f : std::filesystem::directory_iterator(s / "out1"))
    EXPECT_EQ(slurp(f.path()), slurp(s / ("out2/" + f.path().filename().string())));
}

TEST(Omrun, DryRunGivesTimesWithoutValues) {
  Scratch s;
  ASSERT_TRUE(compiles(s, "Ascend910B3"));
  const Outcome dry = run(program("omrun") + " --model net.om --dry-run --json", s.path());
  ASSERT_EQ(dry.code, 0) << dry.out;
  EXPECT_NE(dry.out.find("\"cycles\""), std::string::npos) << dry.out;
  EXPECT_NE(dry.out.find("\"ai_core\""), std::string::npos) << dry.out;
}

TEST(Omrun, BadInputIsOneDiagnostic) {
  Scratch s;
  ASSERT_TRUE(compiles(s, "Ascend910B3"));
  const std::string om = slurp(s / "net.om");
  std::ofstream(s / "cut.om", std::ios::binary) << om.substr(0, om.size() - 100);
  std::ofstream(s / "short.bin", std::ios::binary) << "1234";
  for (const char* arguments : {"--model none.om", "--model cut.om", "--model net.om --input short.bin",
                                "--model net.om --input none.npy", "--model net.om --dims image:1,1,28,28",
                                "--model net.om --profile p", "--model net.om --loop x"}) {
    const Outcome o = run(program("omrun") + " " + arguments, s.path());
    EXPECT_EQ(o.code, 1) << arguments << o.out;
    EXPECT_NE(o.out.find("error"), std::string::npos) << arguments << o.out;
  }
}

}  // namespace
}  // namespace atc::cli
