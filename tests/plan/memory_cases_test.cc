// Public problems whose capacity is in the file's name; greedy orders need a fifth to a third more.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "plan/memory.h"

namespace atc::plan {
namespace {

std::filesystem::path cases() {
  if (const char* named = std::getenv("ATC_CASES")) return named;
  return std::filesystem::path(ATC_SOURCE_DIR).parent_path() / "shared" / "cases";
}

std::vector<Lifetime> read(const std::filesystem::path& path) {
  std::vector<Lifetime> out;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    long long id = 0, lower = 0, upper = 0, size = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "%lld,%lld,%lld,%lld", &id, &lower, &upper, &size), 4) << line;
    out.push_back({lower, upper, size});
  }
  return out;
}

class MemoryCases : public testing::TestWithParam<const char*> {};

TEST_P(MemoryCases, FitsTheCapacity) {
  constexpr std::int64_t kCapacity = 1048576;
  const std::filesystem::path path = cases() / "memplan" / (std::string(GetParam()) + ".1048576.csv");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const std::vector<Lifetime> b = read(path);
  EXPECT_GT(plan_by_size(b, 1).height, kCapacity);
  const MemoryLayout layout = plan_memory(b, 1, {kCapacity, 150'000'000});
  ASSERT_EQ(layout.offsets.size(), b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    EXPECT_GE(layout.offsets[i], 0);
    EXPECT_LE(layout.offsets[i] + b[i].size, kCapacity) << i;
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = b[i].lower < b[j].upper && b[j].lower < b[i].upper;
      const bool apart = layout.offsets[i] + b[i].size <= layout.offsets[j] ||
                         layout.offsets[j] + b[j].size <= layout.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Public, MemoryCases, testing::Values("A", "C", "D", "F", "H", "J"));

}  // namespace
}  // namespace atc::plan
