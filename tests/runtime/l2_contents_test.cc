#include "runtime/l2_contents.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace atc::runtime {
namespace {

TEST(L2Contents, WhatWasTouchedIsThere) {
  L2Contents l2(1000);
  EXPECT_EQ(l2.touch(0, 400, false).hits, 0);
  EXPECT_EQ(l2.touch(0, 400, false).hits, 400);
  EXPECT_EQ(l2.touch(300, 200, false).hits, 100);
  EXPECT_EQ(l2.used(), 500);
}

TEST(L2Contents, TheOldestLeavesFirst) {
  L2Contents l2(1000);
  l2.touch(0, 500, false);
  l2.touch(1000, 500, false);
  l2.touch(0, 500, false);     // young again
  l2.touch(2000, 300, false);  // 300 of [1000, 1500) leave
  EXPECT_EQ(l2.used(), 1000);
  EXPECT_EQ(l2.touch(0, 500, false).hits, 500);
  EXPECT_EQ(l2.touch(1000, 500, false).hits, 200);
}

TEST(L2Contents, OnlyWrittenBytesAreWrittenBack) {
  L2Contents l2(1000);
  l2.touch(0, 600, true);
  l2.touch(1000, 400, false);
  EXPECT_EQ(l2.touch(2000, 300, false).written_back, 300);  // of the written range
  EXPECT_EQ(l2.touch(3000, 300, false).written_back, 300);
  EXPECT_EQ(l2.touch(4000, 300, false).written_back, 0);  // of the read one
}

TEST(L2Contents, ARangeBeyondTheCapacityKeepsItsEnd) {
  L2Contents l2(1000);
  EXPECT_EQ(l2.touch(0, 2500, true).written_back, 1500);
  EXPECT_EQ(l2.used(), 1000);
  EXPECT_EQ(l2.touch(1500, 1000, false).hits, 1000);
}

TEST(L2Contents, NothingTouchesNothing) {
  L2Contents l2(1000);
  EXPECT_EQ(l2.touch(5, 0, true).hits, 0);
  EXPECT_EQ(l2.used(), 0);
}

// Byte by byte: each byte has the time of its last use; what is oldest, and of one use the lowest address,
// leaves.
TEST(L2Contents, AgreesWithOneByteLines) {
  constexpr int kBytes = 64, kCapacity = 24;
  std::mt19937 rng(7);
  for (int round = 0; round < 50; ++round) {
    L2Contents l2(kCapacity);
    std::vector<int> stamp(kBytes, -1);
    for (int t = 0; t < 60; ++t) {
      const int begin = static_cast<int>(rng() % kBytes), n = 1 + static_cast<int>(rng() % (kBytes - begin));
      int hits = 0;
      for (int i = begin; i < begin + n; ++i) hits += stamp[static_cast<std::size_t>(i)] >= 0;
      EXPECT_EQ(l2.touch(begin, n, false).hits, hits);
      for (int i = begin; i < begin + n; ++i) stamp[static_cast<std::size_t>(i)] = t;
      for (;;) {
        int used = 0, oldest = -1;
        for (int i = 0; i < kBytes; ++i) {
          const int s = stamp[static_cast<std::size_t>(i)];
          used += s >= 0;
          if (s >= 0 && (oldest < 0 || s < stamp[static_cast<std::size_t>(oldest)])) oldest = i;
        }
        if (used <= kCapacity) break;
        stamp[static_cast<std::size_t>(oldest)] = -1;
      }
    }
  }
}

}  // namespace
}  // namespace atc::runtime
