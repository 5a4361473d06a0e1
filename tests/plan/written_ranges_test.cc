#include "plan/written_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace atc::plan {
namespace {

TEST(WrittenRanges, MergesNeighbours) {
  WrittenRanges ranges;
  EXPECT_TRUE(ranges.contains(7, 7));
  EXPECT_FALSE(ranges.contains(0, 1));
  ranges.add(0, 8);
  ranges.add(16, 24);
  EXPECT_FALSE(ranges.contains(0, 24));
  ranges.add(8, 16);
  EXPECT_TRUE(ranges.contains(0, 24));
  EXPECT_FALSE(ranges.contains(0, 25));
}

TEST(WrittenRanges, AgreesWithABitForEachByte) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    WrittenRanges ranges;
    std::vector<bool> bits(64);
    for (int step = 0; step < 20; ++step) {
      const std::int64_t a = random() % 64, b = a + random() % (65 - a);
      bool all = true;
      for (std::int64_t i = a; i < b; ++i) all = all && bits[static_cast<std::size_t>(i)];
      ASSERT_EQ(ranges.contains(a, b), all) << a << " to " << b;
      if (step % 2 == 0) continue;
      ranges.add(a, b);
      for (std::int64_t i = a; i < b; ++i) bits[static_cast<std::size_t>(i)] = true;
    }
  }
}

}  // namespace
}  // namespace atc::plan
