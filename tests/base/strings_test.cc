#include "atc/base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atc/base/hash.h"

namespace atc {
namespace {

using ::testing::ElementsAre;

TEST(Strings, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a;;b;", ';'), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ';'), ElementsAre(""));
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Strings, Trim) {
  EXPECT_EQ(trim(" \t a b\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(Strings, PrintableEscapesWhatSteersATerminal) {
  EXPECT_EQ(printable("a\x1b[31m\n\x7f\t"), "a\\x1b[31m\\x0a\\x7f\\x09");
  EXPECT_EQ(printable(std::string("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("conv/\xe6\x97\xa5 \\"), "conv/\xe6\x97\xa5 \\");
}

TEST(Strings, EditDistance) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
}

TEST(Strings, NearestIgnoresCaseButPrefersIt) {
  const std::vector<std::string> names = {"Ascend310", "Ascend310P3", "Ascend910B3"};
  EXPECT_EQ(nearest("ASCEND310P3", names), "Ascend310P3");
  EXPECT_EQ(nearest("Ascend910b", names), "Ascend910B3");
  EXPECT_EQ(nearest("GPU", names), "");
  EXPECT_EQ(nearest("Ascend310P", {"Ascend310", "Ascend310P3"}), "Ascend310P3");
  EXPECT_EQ(nearest("ascend310p", {"Ascend310", "Ascend310P3"}), "Ascend310P3");
  EXPECT_EQ(nearest("Ascend310Q", {"Ascend310", "Ascend310P3"}), "Ascend310");
  EXPECT_EQ(nearest("relu", {"Relu", "relu"}), "relu");
}

// Reference values of the published XXH3-64 algorithm.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hash64(std::string_view()), 0x2D06800538D394C2ULL);
  EXPECT_NE(hash64("a"), hash64("b"));
  EXPECT_NE(hash64("a", 1), hash64("a", 2));
}

}  // namespace
}  // namespace atc
