// Real command lines from public repositories must be understood as ATC understands them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "driver/options.h"

namespace atc::driver {
namespace {

std::string cases_folder() {
  if (const char* set = std::getenv("ATC_CASES")) return set;
  return ATC_SOURCE_DIR "/../shared/cases";
}

// Those that ATC refuses too, by what is wrong in them.
const std::map<std::string, std::string> kRefused = {
    {"onnx-0053", "E10054"},                                                    // no blank before --output
    {"onnx-0065", "E10001"},                                                    // blank behind --model=
    {"onnx-0180", "E10001"},                                                    // --auto_tune_mode, withdrawn
    {"onnx-0181", "E10001"}, {"onnx-0233", "E10001"}, {"onnx-0346", "E10002"},  // full-width braces
    {"onnx-0388", "E10001"},                                                    // --auto_tune_mode
    {"onnx-0389", "E10001"}, {"onnx-0421", "E10046"},  // two -1, one number in a gear
    {"onnx-0432", "E10001"},                           // stray words
    {"onnx-0464", "E10001"}, {"onnx-0497", "E10054"},  // no --soc_version
    {"onnx-0521", "E10054"}, {"onnx-0540", "E10040"},  // gears, but no -1
    {"onnx-0549", "E10001"},                           // stray words
    {"onnx-0550", "E10001"}, {"onnx-0551", "E10001"}, {"onnx-0552", "E10001"},
    {"onnx-0564", "E10031"},  // gears, but no -1
    {"onnx-0566", "E10031"}, {"onnx-0567", "E10040"}, {"onnx-0568", "E10040"},
    {"onnx-0569", "E10048"},  // range without brackets
    {"onnx-0570", "E10040"}, {"onnx-0571", "E10048"}, {"onnx-0573", "E10031"},
    {"onnx-0582", "E10001"},  // --soc_version=xxx
};

nlohmann::json commands(const std::string& file) {
  std::ifstream in(cases_folder() + "/atc_commands/" + file);
  return in ? nlohmann::json::parse(in) : nlohmann::json();
}

/// "" or the code of the refusal.
std::string code_of(const nlohmann::json& command, OptionChecks checks) {
  auto words = command["argv"].get<std::vector<std::string>>();
  words.erase(words.begin());
  const auto line = CommandLine::parse(words);
  if (!line.ok()) return line.status().diagnostic().code;
  const auto options = read_options(*line, checks);
  return options.ok() ? "" : options.status().diagnostic().code;
}

TEST(AtcCommands, OnnxOnesAreUnderstood) {
  const auto all = commands("onnx.json");
  if (all.empty()) GTEST_SKIP() << "no atc_commands/onnx.json";
  ASSERT_GT(all.size(), 250U);
  for (const auto& command : all) {
    const auto id = command["id"].get<std::string>();
    const auto refused = kRefused.find(id);
    EXPECT_EQ(code_of(command, {.files = false, .supported = false}),
              refused == kRefused.end() ? "" : refused->second)
        << command.dump();
  }
}

TEST(AtcCommands, WhatIsNotSupportedYetIsSaidByName) {
  const auto all = commands("onnx.json");
  if (all.empty()) GTEST_SKIP() << "no atc_commands/onnx.json";
  std::size_t accepted = 0;
  for (const auto& command : all) {
    if (kRefused.contains(command["id"])) continue;
    const std::string code = code_of(command, {.files = false, .supported = true});
    EXPECT_TRUE(code.empty() || code == "E10055") << command.dump();
    if (code.empty()) ++accepted;
  }
  EXPECT_GT(accepted, 100U);
}

TEST(AtcCommands, OtherFrameworksAreRefusedInOneOfAtcsWays) {
  const auto all = commands("other_frameworks.json");
  if (all.empty()) GTEST_SKIP() << "no atc_commands/other_frameworks.json";
  for (const auto& command : all) {
    const std::string code = code_of(command, {.files = false, .supported = true});
    const std::string argv = command["argv"].dump();
    const bool tensorflow = argv.find("--framework=3") != std::string::npos;
    EXPECT_TRUE(!tensorflow || !code.empty()) << argv;
  }
}

}  // namespace
}  // namespace atc::driver
