#include "plan/memory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace atc::plan {
namespace {

// What a layout must hold, checked pair by pair and moment by moment.
void expect_valid(const std::vector<Lifetime>& buffers, const MemoryLayout& layout, std::int64_t alignment) {
  ASSERT_EQ(layout.offsets.size(), buffers.size());
  std::int64_t height = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_GE(layout.offsets[i], 0);
    EXPECT_EQ(layout.offsets[i] % alignment, 0);
    height = std::max(height, layout.offsets[i] + buffers[i].size);
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = buffers[i].lower < buffers[j].upper && buffers[j].lower < buffers[i].upper;
      const bool apart = layout.offsets[i] + buffers[i].size <= layout.offsets[j] ||
                         layout.offsets[j] + buffers[j].size <= layout.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
  EXPECT_LE(height, layout.height);
  EXPECT_GE(layout.height, layout.lower_bound);
  std::int64_t most = 0;
  for (const Lifetime& at : buffers) {
    std::int64_t alive = 0;
    for (const Lifetime& b : buffers)
      if (b.lower <= at.lower && at.lower < b.upper)
        alive += (b.size + alignment - 1) / alignment * alignment;
    most = std::max(most, alive);
  }
  EXPECT_EQ(layout.lower_bound, most);
}

TEST(PlanMemory, ReusesWhatIsNoLongerAlive) {
  // A chain: each buffer is read by the next task only; two are enough.
  std::vector<Lifetime> chain;
  for (std::int64_t i = 0; i < 10; ++i) chain.push_back({i, i + 2, 640});
  const MemoryLayout layout = plan_memory(chain);
  expect_valid(chain, layout, 64);
  EXPECT_EQ(layout.height, 1280);
  EXPECT_EQ(layout.lower_bound, 1280);
}

TEST(PlanMemory, KeepsAlignment) {
  const std::vector<Lifetime> buffers = {{0, 3, 1}, {0, 3, 65}, {1, 2, 7}};
  const MemoryLayout layout = plan_memory(buffers);
  expect_valid(buffers, layout, 64);
  EXPECT_EQ(layout.height, 64 + 128 + 64);
}

TEST(PlanMemory, NothingIsNoMemory) { EXPECT_EQ(plan_memory({}).height, 0); }

// Above a thousand buffers those alive together are found by stretches of time.
TEST(PlanMemory, ManyBuffers) {
  std::mt19937 rng(5);
  std::vector<Lifetime> buffers;
  for (std::int64_t i = 0; i < 1500; ++i)
    buffers.push_back({i, i + 1 + static_cast<std::int64_t>(rng() % (i % 50 == 0 ? 900 : 9)),
                       1 + static_cast<std::int64_t>(rng() % 5000)});
  expect_valid(buffers, plan_by_size(buffers), 64);
  std::vector<Lifetime> chain;
  for (std::int64_t i = 0; i < 20000; ++i) chain.push_back({i, i + 2, 64 * (1 + i % 9)});
  const auto start = std::chrono::steady_clock::now();
  const MemoryLayout layout = plan_memory(chain);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(layout.height, layout.lower_bound);
  EXPECT_LT(took.count(), 2.0);
}

TEST(PlanMemory, MomentsAtTheEndsOfTheRange) {
  const std::vector<Lifetime> buffers = {{INT64_MIN, INT64_MAX, 64}, {INT64_MIN, 0, 64}, {0, INT64_MAX, 64}};
  EXPECT_EQ(plan_by_size(buffers).height, 128);
}

TEST(PlanMemory, RandomProblemsNeverOverlapAndStayNearTheBound) {
  std::mt19937 rng(11);
  for (int round = 0; round < 60; ++round) {
    std::vector<Lifetime> buffers;
    const int count = 1 + static_cast<int>(rng() % 80);
    for (int i = 0; i < count; ++i) {
      const std::int64_t lower = rng() % 50;
      buffers.push_back({lower, lower + 1 + static_cast<std::int64_t>(rng() % 12),
                         1 + static_cast<std::int64_t>(rng() % 5000)});
    }
    const MemoryLayout layout = plan_memory(buffers);
    expect_valid(buffers, layout, 64);
    EXPECT_LE(layout.height, layout.lower_bound * 2);
    const MemoryLayout again = plan_memory(buffers);
    EXPECT_EQ(layout.offsets, again.offsets);
  }
}

}  // namespace
}  // namespace atc::plan
