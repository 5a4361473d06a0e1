#include "atc/base/error_codes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

namespace atc {
namespace {

TEST(ErrorCodes, EveryCodeIsFoundAndWellFormed) {
  const std::regex shape("[EW][0-9Z][0-9]{4}");
  ASSERT_GT(error_codes().size(), 60U);
  for (const ErrorCode& e : error_codes()) {
    EXPECT_TRUE(std::regex_match(std::string(e.code), shape)) << e.code;
    EXPECT_EQ(find_error_code(e.code), &e);
    EXPECT_FALSE(e.title.empty());
    EXPECT_EQ(e.title.find_first_of(" ()"), std::string_view::npos) << e.code;
    EXPECT_EQ(e.meaning.back(), '.') << e.code;
  }
}

TEST(ErrorCodes, UnknownCodes) {
  for (const char* code : {"", "E1", "E10000", "Z99999", "e10001"}) EXPECT_EQ(find_error_code(code), nullptr);
}

// A diagnostic without an entry would have neither title nor explanation.
TEST(ErrorCodes, EveryCodeInTheSourcesIsListed) {
  const std::regex literal("\"([EW][0-9Z][0-9]{4})\"");
  int seen = 0;
  for (const char* folder : {"src", "ops", "passes"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(ATC_SOURCE_DIR "/") + folder)) {
      if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::string source = text.str();
      for (std::sregex_iterator it(source.begin(), source.end(), literal), end; it != end; ++it, ++seen)
        EXPECT_NE(find_error_code((*it)[1].str()), nullptr) << (*it)[1] << " in " << entry.path().filename();
    }
  EXPECT_GT(seen, 50);
}

}  // namespace
}  // namespace atc
