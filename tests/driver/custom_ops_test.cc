#include "driver/custom_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "custom/library_source.h"

namespace atc::driver {
namespace {

using custom_test::Folder;
using custom_test::LibrarySource;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string fault(std::string_view text) { return parse_custom_op(text).status().to_string(); }

TEST(CustomOpOption, IsTypesWithLibrariesOrLibrariesAlone) {
  const auto options = parse_custom_op("RoPE:./rope.so, b.so");
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  ASSERT_EQ(options->size(), 2U);
  EXPECT_EQ(options->at(0).type, "RoPE");
  EXPECT_EQ(options->at(0).path, "./rope.so");
  EXPECT_EQ(options->at(1).type, "");
  EXPECT_EQ(options->at(1).path, "b.so");
}

TEST(CustomOpOption, RefusesEmptyPartsAndTypesGivenTwice) {
  EXPECT_THAT(fault("RoPE:"), AllOf(HasSubstr("E10001"), HasSubstr("--custom_op"), HasSubstr("'RoPE:'")));
  EXPECT_THAT(fault("a.so,,b.so"), HasSubstr("is not Type:library"));
  EXPECT_THAT(fault("A:a.so,A:b.so"), HasSubstr("type A appears twice"));
}

TEST(CustomOpOption, LoadsWhatItNames) {
  const Folder folder;
  const std::string path = LibrarySource{}.build(folder).string();
  const auto loaded = load_custom_ops({{"Twice", path}});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  ASSERT_EQ(loaded->entries.size(), 1U);
  EXPECT_TRUE(loaded->entries[0].asked);
  EXPECT_THAT(load_custom_ops({{"Thrice", path}}).status().to_string(), HasSubstr("lists Twice, not Thrice"));
  EXPECT_THAT(load_custom_ops({{"", "nowhere.so"}}).status().to_string(),
              AllOf(HasSubstr("E13000"), HasSubstr("nowhere.so")));
}

TEST(CustomOpOption, SearchesTheFoldersOfTheEnvironment) {
  const Folder folder;
  LibrarySource{}.build(folder);
  LibrarySource other;
  other.symbol = "not_the_symbol";
  other.build(folder, "other.so");
  setenv("ASCEND_CUSTOM_OPP_PATH", ("/nonexistent:" + folder.path().string()).c_str(), 1);
  const auto all = load_custom_ops({});
  const auto named = load_custom_ops({{"", "twice.so"}});
  unsetenv("ASCEND_CUSTOM_OPP_PATH");
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  ASSERT_EQ(all->entries.size(), 1U) << "what is no library of operators is passed over";
  EXPECT_FALSE(all->entries[0].asked);
  ASSERT_TRUE(named.ok()) << named.status().to_string();
  EXPECT_TRUE(named->entries.at(0).asked);
}

}  // namespace
}  // namespace atc::driver
