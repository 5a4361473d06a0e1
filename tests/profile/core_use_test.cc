#include "profile/core_use.h"

#include <gtest/gtest.h>

namespace atc::profile {
namespace {

using aicore::Pipe;
using aicore::TraceEvent;

// Three tiles in one buffer: nothing overlaps.
TEST(CoreUse, OneBufferOverlapsNothing) {
  std::vector<TraceEvent> events;
  for (aicore::Cycle t = 0; t < 3; ++t) {
    events.push_back({Pipe::MTE2, "DataCopy", 30 * t, 30 * t + 10, 256});
    events.push_back({Pipe::V, "Add", 30 * t + 10, 30 * t + 20, 256});
    events.push_back({Pipe::MTE3, "DataCopy", 30 * t + 20, 30 * t + 30, 256});
  }
  const CoreUse use = core_use(events, 90);
  for (const Pipe p : {Pipe::MTE2, Pipe::V, Pipe::MTE3}) {
    EXPECT_EQ(use[p].busy, 30);
    EXPECT_EQ(use[p].wait, 60);
    EXPECT_EQ(use[p].overlap, 0);
    EXPECT_EQ(use[p].instructions, 3);
    EXPECT_EQ(use[p].bytes, 768);
  }
  EXPECT_EQ(use.copy, 60);
  EXPECT_EQ(use.compute, 30);
  EXPECT_EQ(use.both, 0);
  EXPECT_EQ(use[Pipe::M].busy, 0);
  EXPECT_EQ(use[Pipe::M].wait, 90);
}

// In with [0,10) [10,20), compute [10,25), out [25,30): 10 of compute and of copy at once, whatever the
// order.
TEST(CoreUse, OverlapIsTimeBesideAnotherPipe) {
  const std::vector<TraceEvent> events = {{Pipe::MTE3, "out", 25, 30, 8},
                                          {Pipe::V, "add", 10, 25, 8},
                                          {Pipe::MTE2, "in", 10, 20, 8},
                                          {Pipe::MTE2, "in", 0, 10, 8}};
  const CoreUse use = core_use(events, 40);
  EXPECT_EQ(use[Pipe::MTE2].overlap, 10);
  EXPECT_EQ(use[Pipe::V].overlap, 10);
  EXPECT_EQ(use[Pipe::MTE3].overlap, 0);
  EXPECT_EQ(use.copy, 25);
  EXPECT_EQ(use.compute, 15);
  EXPECT_EQ(use.both, 10);
  EXPECT_EQ(use[Pipe::MTE2].wait, 20);
}

TEST(CoreUse, WaitingForOtherBlocksIsNoWork) {
  const std::vector<TraceEvent> events = {{Pipe::S, "SyncAll", 0, 50, 0},
                                          {Pipe::S, "CrossCoreWaitFlag", 50, 60, 0},
                                          {Pipe::S, "Scalar", 60, 65, 0}};
  EXPECT_EQ(core_use(events, 70)[Pipe::S].busy, 5);
  EXPECT_EQ(core_use(events, 70)[Pipe::S].wait, 65);
}

TEST(CoreUse, BlocksOfACoreFollowEachOther) {
  const std::vector<TraceEvent> events = {{Pipe::V, "add", 0, 10, 8}, {Pipe::MTE2, "in", 5, 20, 8}};
  CoreUse use = core_use(events, 20);
  use += core_use(events, 30);
  EXPECT_EQ(use.cycles, 50);
  EXPECT_EQ(use[Pipe::V].busy, 20);
  EXPECT_EQ(use[Pipe::V].wait, 30);
  EXPECT_EQ(use.both, 10);
}

TEST(CoreUse, NothingTracedIsWaiting) {
  const CoreUse use = core_use({}, 7);
  EXPECT_EQ(use[Pipe::V].wait, 7);
  EXPECT_EQ(use.copy, 0);
}

}  // namespace
}  // namespace atc::profile
