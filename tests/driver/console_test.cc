#include "driver/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "driver/help.h"
#include "driver/option_table.h"

namespace atc::driver {
namespace {

using ::testing::HasSubstr;

Diagnostic diagnostic(std::string code, std::string message) {
  Diagnostic d;
  d.code = std::move(code);
  d.message = std::move(message);
  return d;
}

TEST(Console, Success) {
  std::ostringstream out;
  Console console(out, "/usr/bin/atc", [] { return std::string("[H] "); });
  console.start();
  const std::vector<Diagnostic> warnings = {diagnostic("W10001", "--x has no effect.")};
  console.success(warnings);
  EXPECT_EQ(out.str(),
            "ATC start working now, please wait for a moment.\n"
            "...\n"
            "ATC run success, welcome to the next use.\n"
            "[H] Option_Ignored(W10001): --x has no effect.\n");
}

TEST(Console, FailureNamesTheCalledProgram) {
  std::ostringstream out;
  Console console(out, "./bin/pyatc", [] { return std::string("[H] "); });
  Diagnostic d = diagnostic("E10001", "bad\x1b[31m value");
  d.notes = {"seen here"};
  d.possible_cause = "a slip";
  d.context = {"while reading a", "while compiling b"};
  console.failure(d);
  EXPECT_EQ(out.str(),
            "...\n"
            "ATC run failed, Please check the detail log, Try 'pyatc --help' for more information\n"
            "[H] Invalid_Argument(E10001): bad\\x1b[31m value\n"
            "        seen here\n"
            "        Possible Cause: a slip\n"
            "        Solution: Give the option one of the values that the message names.\n"
            "        TraceBack (most recent call last):\n"
            "        while compiling b\n"
            "        while reading a\n"
            "\n");
}

TEST(Console, InnerErrorsSaySoFirst) {
  const std::string block = error_block(diagnostic("E19999", "x.cc:3: broken"), "[H] ");
  EXPECT_EQ(block.find("E19999: Inner Error!\n[H] Inner_Error(E19999): x.cc:3: broken\n"), 0U);
}

TEST(Console, LongMessagesKeepTheIndent) {
  EXPECT_THAT(error_block(diagnostic("E16002", "two:\nA\nB"), ""), HasSubstr("two:\n        A\n        B\n"));
}

TEST(Console, HeadHasPidAndMicroseconds) {
  const std::regex shape(R"(\[PID: \d+\] \d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} )");
  EXPECT_TRUE(std::regex_match(message_head(), shape)) << message_head();
}

TEST(Console, JsonIsOneObjectALine) {
  std::ostringstream out;
  Console console(out, "atc");
  console.use_json(true);
  Diagnostic d = diagnostic("E10054", "line\nbreak \xff");
  d.notes = {"n"};
  console.failure(d);
  std::istringstream lines(out.str());
  std::string line;
  int objects = 0;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] != '{') continue;
    ++objects;
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["code"], "E10054");
    EXPECT_EQ(json["severity"], "error");
    EXPECT_EQ(json["title"], "Missing_Option");
    EXPECT_THAT(json["message"].get<std::string>(), HasSubstr("line\nbreak "));
    EXPECT_EQ(json["notes"][0], "n");
    EXPECT_THAT(json["solution"].get<std::string>(), HasSubstr("quotes"));
  }
  EXPECT_EQ(objects, 1);
}

TEST(Help, ListsEveryOptionOnceInGroups) {
  const std::string text = help_text("atc");
  for (const OptionSpec& spec : option_table()) {
    if (spec.help.empty()) continue;
    const std::string needle = "\n  --" + std::string(spec.name) + " ";
    const auto first = text.find(needle);
    ASSERT_NE(first, std::string::npos) << spec.name;
    EXPECT_EQ(text.find(needle, first + 1), std::string::npos) << spec.name;
  }
  EXPECT_LT(text.find("Basic Functionality"), text.find("[Input]"));
  EXPECT_LT(text.find("[Target]"), text.find("Advanced Functionality"));
  EXPECT_THAT(text, HasSubstr("[not supported in this version]"));
}

TEST(Explain, KnownAndUnknownCodes) {
  const auto known = explain_text("E10054");
  ASSERT_TRUE(known.ok());
  EXPECT_THAT(*known, HasSubstr("required option"));
  const auto unknown = explain_text("E10055x");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.status().diagnostic().message, HasSubstr("E10055"));
}

}  // namespace
}  // namespace atc::driver
