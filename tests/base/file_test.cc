#include "atc/base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace atc {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("atc_file_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string text_of(const fs::path& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(FileTest, WritesAndMaps) {
  const auto path = folder_ / "a.bin";
  ASSERT_TRUE(write_file(path, "hello").ok());
  const auto mapped = map_file(path);
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>((*mapped).data()), (*mapped).size()), "hello");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, MapErrors) {
  EXPECT_EQ(map_file(folder_ / "none").status().diagnostic().code, "E13000");
  EXPECT_EQ(map_file(folder_).status().diagnostic().code, "E13000");
  ASSERT_TRUE(write_file(folder_ / "empty", "").ok());
  const auto empty = map_file(folder_ / "empty");
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE((*empty).empty());
}

TEST_F(FileTest, NothingIsLeftWithoutCommit) {
  const auto path = folder_ / "a.bin";
  {
    auto writer = FileWriter::create(path);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->write("partial").ok());
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(FileTest, OldFileStaysUntilCommit) {
  const auto path = folder_ / "a.bin";
  ASSERT_TRUE(write_file(path, "old").ok());
  auto writer = FileWriter::create(path);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->write("new").ok());
  EXPECT_EQ(text_of(path), "old");
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(text_of(path), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, SkipLeavesZerosAlsoAtTheEnd) {
  auto writer = FileWriter::create(folder_ / "a.bin");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->write("a").ok());
  ASSERT_TRUE(writer->skip(2).ok());
  ASSERT_TRUE(writer->write("b").ok());
  ASSERT_TRUE(writer->skip(std::uint64_t{5} << 30).ok());
  EXPECT_EQ(writer->position(), (std::uint64_t{5} << 30) + 4);
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(fs::file_size(folder_ / "a.bin"), (std::uint64_t{5} << 30) + 4);
  std::ifstream in(folder_ / "a.bin", std::ios::binary);
  char head[5] = {};
  in.read(head, 5);
  EXPECT_EQ(std::string(head, 5), std::string("a\0\0b\0", 5));
}

TEST_F(FileTest, CreateErrors) {
  const auto missing = FileWriter::create(folder_ / "no" / "a.bin");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().diagnostic().code, "E13001");
  EXPECT_NE(missing.status().diagnostic().message.find("does not exist"), std::string::npos);
  EXPECT_EQ(FileWriter::create(folder_).status().diagnostic().code, "E13001");
}

TEST_F(FileTest, FullDeviceIsReportedAndDevicesAreNotReplaced) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(write_file("/dev/full", "x").diagnostic().code, "E13004");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(write_file("/dev/null", "x").ok());
  EXPECT_EQ(map_file("/dev/zero").status().diagnostic().code, "E13000") << "it has no end";
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, LinksAreKept) {
  ASSERT_TRUE(write_file(folder_ / "real", "1").ok());
  fs::create_symlink("real", folder_ / "link");
  ASSERT_TRUE(write_file(folder_ / "link", "2").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(text_of(folder_ / "real"), "2");
}

}  // namespace
}  // namespace atc
