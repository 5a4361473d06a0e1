#include "driver/main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace atc::driver {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int code = 0;
  std::string out;
};

Outcome atc(std::vector<std::string> words) {
  words.insert(words.begin(), "/somewhere/atc");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  Outcome run;
  run.code = run_atc(static_cast<int>(argv.size()), argv.data());
  run.out = ::testing::internal::GetCapturedStdout();
  return run;
}

constexpr const char* kStart = "ATC start working now, please wait for a moment.\n";
constexpr const char* kFailure =
    "...\nATC run failed, Please check the detail log, Try 'atc --help' for more information\n";

TEST(RunAtc, HelpComesAfterTheStartLine) {
  for (const char* word : {"--help", "--h", "-h"}) {
    const Outcome run = atc({word});
    EXPECT_EQ(run.code, 0);
    EXPECT_THAT(run.out, StartsWith(std::string(kStart) + "usage: atc "));
  }
}

TEST(RunAtc, FailureHasTheBlockAndAnEmptyLine) {
  const Outcome run = atc({"--modell=x"});
  EXPECT_EQ(run.code, 255);
  EXPECT_THAT(run.out, StartsWith(std::string(kStart) + kFailure + "[PID: "));
  EXPECT_THAT(
      run.out,
      HasSubstr("(E10001): Unknown command line flag --modell.\n        Solution: Did you mean --model?\n"));
  EXPECT_THAT(run.out, EndsWith("\n\n"));
}

TEST(RunAtc, WithoutOptions) {
  const Outcome run = atc({});
  EXPECT_EQ(run.code, 255);
  EXPECT_THAT(run.out, HasSubstr("(E10007): "));
}

TEST(RunAtc, MissingFiles) {
  EXPECT_THAT(atc({"--mode=6", "--om=/nowhere/x.om"}).out, HasSubstr("(E13000): "));
  EXPECT_THAT(atc({"--mode=1", "--om=/nowhere/x.om", "--json=/nowhere/x.json"}).out, HasSubstr("(E13000): "));
  const Outcome run = atc({"--framework=5", "--model=/nowhere/x.onnx", "--output=x",
                           "--soc_version=Ascend310P3", "--diagnostics=json"});
  EXPECT_EQ(run.code, 255);
  EXPECT_THAT(run.out, HasSubstr(std::string(kFailure) + "{\"code\":\"E13000\""));
}

TEST(RunAtc, ListsAndExplains) {
  const Outcome socs = atc({"--list=socs"});
  EXPECT_EQ(socs.code, 0);
  EXPECT_THAT(socs.out, StartsWith("Ascend310 "));
  EXPECT_THAT(atc({"--list=ops"}).out, HasSubstr("\nSoftmax "));
  EXPECT_THAT(atc({"--list=passes"}).out, HasSubstr("constant-folding"));
  EXPECT_EQ(atc({"--list=chips"}).code, 255);
  EXPECT_THAT(atc({"--explain=E10054"}).out, StartsWith("E10054 Missing_Option\n"));
  EXPECT_EQ(atc({"--explain=E1"}).code, 255);
}

}  // namespace
}  // namespace atc::driver
