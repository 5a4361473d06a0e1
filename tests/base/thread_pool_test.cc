#include "atc/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace atc {
namespace {

TEST(ThreadPool, EveryIndexOnceAndWorkersInRange) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const std::size_t n : {0U, 1U, 2U, 1000U}) {
      std::vector<std::atomic<int>> hits(n);
      std::atomic<bool> in_range{true};
      pool.parallel_for(n, [&](std::size_t i, int worker) {
        hits[i].fetch_add(1);
        if (worker < 0 || worker >= threads) in_range = false;
      });
      for (const auto& h : hits) ASSERT_EQ(h.load(), 1);
      EXPECT_TRUE(in_range);
    }
  }
}

TEST(ThreadPool, DefaultSizeIsPositive) { EXPECT_GE(ThreadPool(0).size(), 1); }

TEST(ThreadPool, OtherThreadsTakePart) {
  ThreadPool pool(2);
  // Each of two indices waits for the other: only two threads at once can finish.
  std::atomic<int> arrived{0};
  std::vector<int> worker_of(2, -1);
  pool.parallel_for(2, [&](std::size_t i, int worker) {
    worker_of[i] = worker;
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_NE(worker_of[0], worker_of[1]);
}

TEST(ThreadPool, LowestFailingIndexIsRethrownAndThePoolStaysUsable) {
  ThreadPool pool(3);
  for (int round = 0; round < 200; ++round) {
    try {
      pool.parallel_for(100, [](std::size_t i, int) {
        if (i >= 5) throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error& e) {
      ASSERT_STREQ(e.what(), "5");
    }
  }
  std::atomic<int> sum{0};
  pool.parallel_for(10, [&](std::size_t i, int) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 45);
}

TEST(ThreadPool, LoopsInsideLoopsRunInlineAsTheSameWorker) {
  ThreadPool pool(3);
  std::atomic<int> hits{0};
  std::atomic<bool> same{true};
  pool.parallel_for(8, [&](std::size_t, int outer) {
    pool.parallel_for(4, [&](std::size_t, int inner) {
      ++hits;
      if (inner != outer) same = false;
    });
  });
  EXPECT_EQ(hits, 32);
  EXPECT_TRUE(same);
}

TEST(ThreadPool, ALoopOfOneLeavesTheThreadsToTheLoopInside) {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  pool.parallel_for(1, [&](std::size_t, int) {
    pool.parallel_for(2, [&](std::size_t, int) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    });
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, CallersFromSeveralThreadsTakeTurns) {
  ThreadPool pool(2);
  std::atomic<int> inside{0}, hits{0};
  const auto call = [&] {
    for (int i = 0; i < 200; ++i) pool.parallel_for(3, [&](std::size_t, int) { ++hits; });
  };
  std::thread other(call);
  call();
  other.join();
  EXPECT_EQ(hits, 1200);
}

TEST(ThreadPool, WakesAfterSleep) {
  ThreadPool pool(2);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::atomic<int> arrived{0};
    pool.parallel_for(2, [&](std::size_t, int) {
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    });
  }
}

}  // namespace
}  // namespace atc
