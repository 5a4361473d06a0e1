#include "aicore/block_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "atc/base/check.h"

namespace atc::aicore {
namespace {

using ::testing::HasSubstr;

const soc::Chip& chip() { return **soc::find_chip("Ascend910B3"); }

std::string fault_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InternalError& error) {
    return error.what();
  }
  return {};
}

constexpr int kBlocks = 40;
constexpr std::int64_t kRow = 64;  // floats a block

/// Every block doubles its row of `data`; after SyncAll each adds the row of the next block to its own.
std::vector<float> neighbours(int threads, Values values, Cycle* cycles) {
  std::vector<float> data(kBlocks * kRow), sums(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const Gm in{reinterpret_cast<std::byte*>(data.data()), static_cast<std::int64_t>(data.size() * 4), false};
  const Gm out{reinterpret_cast<std::byte*>(sums.data()), static_cast<std::int64_t>(sums.size() * 4), false};
  ThreadPool pool(threads);
  BlockGroup group(chip(), values, cycles != nullptr);
  group.run(kBlocks, pool, [&](Core& core, int block) {
    const Burst row{1, kRow * 4, kRow * 4, kRow * 4};
    Buffer& a = core.alloc(Memory::UB, kRow * 4);
    Buffer& b = core.alloc(Memory::UB, kRow * 4);
    const auto add = [&](Buffer& x, Buffer& y) {
      core.vector(VecOp::Add, RegType::F32, {&x, Lanes::Full}, {&x, Lanes::Full}, {&y, Lanes::Full}, {}, 0, 1,
                  static_cast<int>(kRow), RegType::F32);
    };
    core.copy_in(a, 0, in, block * kRow * 4, row);
    add(a, a);
    core.copy_out(in, block * kRow * 4, a, 0, row);
    core.sync_all();
    core.copy_in(b, 0, in, (block + 1) % kBlocks * kRow * 4, row);
    add(a, b);
    core.copy_out(out, block * kRow * 4, a, 0, row);
  });
  if (cycles != nullptr) *cycles = group.stats().cycles;
  return sums;
}

TEST(BlockGroup, SyncAllMakesOtherBlocksResultsVisible) {
  std::vector<float> expected(kBlocks * kRow);
  for (std::int64_t b = 0; b < kBlocks; ++b)
    for (std::int64_t i = 0; i < kRow; ++i)
      expected[static_cast<std::size_t>(b * kRow + i)] =
          2 * static_cast<float>(b * kRow + i) + 2 * static_cast<float>((b + 1) % kBlocks * kRow + i);
  Cycle first = 0;
  for (const int threads : {1, 2, 5})
    for (const Values values : {Values::Fast, Values::Literal}) {
      Cycle cycles = 0;
      EXPECT_EQ(neighbours(threads, values, &cycles), expected);
      if (first == 0) first = cycles;
      EXPECT_EQ(cycles, first) << threads;
    }
}

TEST(BlockGroup, NothingBeginsBeforeTheSlowestBlockIsThere) {
  ThreadPool pool(2);
  BlockGroup group(chip(), Values::None, true);
  std::vector<Cycle> after(8);
  group.run(8, pool, [&](Core& core, int block) {
    core.scalar(100 * (block + 1));
    core.sync_all();
    core.scalar(1);
    after[static_cast<std::size_t>(block)] = core.stats().cycles;
  });
  for (const Cycle end : after) EXPECT_GE(end, 800);
  for (int b = 0; b < 8; ++b) EXPECT_EQ(group.end_of(b), after[0]);
}

// A flag that every block sets at once but only some wait for, twice.
TEST(BlockGroup, FlagsAreCounted) {
  ThreadPool pool(2);
  BlockGroup group(chip(), Values::None, true);
  group.run(3, pool, [&](Core& core, int block) {
    for (int turn = 1; turn <= 2; ++turn) {
      core.scalar(1000 * turn * (block == 1 ? 2 : 1));
      core.cross_core_set_flag(4, Pipe::S);
      if (block == 0) core.cross_core_wait_flag(4);
    }
  });
  EXPECT_GE(group.end_of(0), 6000);  // the other block's second signal
  EXPECT_LT(group.end_of(2), 3100);  // waits for nobody
}

// Conditions are looked at between the rounds, when nobody runs.
TEST(BlockGroup, WaitsUntilACondition) {
  ThreadPool pool(2);
  BlockGroup group(chip(), Values::Literal, true);
  std::vector<Cycle> done(3, -1), seen(3, -1);
  const auto chain = [&](int first) {
    return group.try_run(
        3, pool,
        [&](Core&, int block) {
          const auto of = static_cast<std::size_t>(block);
          // Each after the one before; the first at once, or never.
          if (block > 0 || first != 0)
            seen[of] = group.wait_until(
                block,
                [&, block]() -> std::optional<Cycle> {
                  if (block == 0 || done[static_cast<std::size_t>(block - 1)] < 0) return std::nullopt;
                  return done[static_cast<std::size_t>(block - 1)];
                },
                "block " + std::to_string(block - 1));
          done[of] = 1000 * (block + 1);
        },
        {}, 3);
  };
  EXPECT_EQ(chain(0), std::nullopt);
  EXPECT_EQ(seen, (std::vector<Cycle>{-1, 1100, 2100}));
  done.assign(3, -1);
  const auto deadlock = chain(1);
  ASSERT_TRUE(deadlock);
  EXPECT_THAT(*deadlock, HasSubstr("3 of 3 blocks wait"));
  EXPECT_THAT(*deadlock, HasSubstr("block 2 waits for block 1"));
}

TEST(BlockGroup, DeadlocksAreReported) {
  ThreadPool pool(2);
  BlockGroup group(chip(), Values::None, true);
  const std::string ended = fault_of([&] {
    group.run(kBlocks, pool, [](Core& core, int block) {
      if (block != 7) core.sync_all();
    });
  });
  EXPECT_THAT(ended, HasSubstr("39 of 40 blocks wait"));
  EXPECT_THAT(ended, HasSubstr("SyncAll of block 7"));
  const std::string flag =
      fault_of([&] { group.run(2, pool, [](Core& core, int block) { core.cross_core_wait_flag(block); }); });
  EXPECT_THAT(flag, HasSubstr("block 0 waits for cross-core flag 0 of 2 blocks"));
  // The group is usable afterwards.
  EXPECT_EQ(fault_of([&] { group.run(4, pool, [](Core& core, int) { core.sync_all(); }); }), "");
}

TEST(BlockGroup, TheLowestBlocksFaultIsThrown) {
  ThreadPool pool(2);
  BlockGroup group(chip(), Values::None, true);
  const std::string fault = fault_of([&] {
    group.run(6, pool, [](Core& core, int block) {
      core.sync_all();
      ATC_CHECK(block < 3, "block " + std::to_string(block));
      core.sync_all();
    });
  });
  EXPECT_THAT(fault, HasSubstr("block 3"));
}

TEST(BlockGroup, WhatIsMisusedIsNamed) {
  Core alone(chip(), Values::None, true);
  alone.start_block(2);
  EXPECT_THAT(fault_of([&] { alone.sync_all(); }), HasSubstr("one by one"));
  ThreadPool pool(1);
  BlockGroup group(chip(), Values::None, true);
  EXPECT_THAT(fault_of([&] { group.run(1, pool, [](Core& c, int) { c.cross_core_set_flag(11, Pipe::S); }); }),
              HasSubstr("0 to 10"));
}

}  // namespace
}  // namespace atc::aicore
