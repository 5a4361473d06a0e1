#include "profile/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atc::profile {
namespace {

using aicore::Pipe;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

/// A core of 1000 cycles on which the pipes are busy that long, in long copies, side by side as far as they
/// can.
CoreUse core(std::initializer_list<std::pair<Pipe, Cycle>> busy) {
  CoreUse use;
  use.cycles = 1000;
  for (const auto& [pipe, cycles] : busy) {
    use.pipes[static_cast<std::size_t>(pipe)] = {cycles, 1000 - cycles, 0, 10, 1 << 20};
    if (is_copy(pipe)) use.copy = std::max(use.copy, cycles);
    if (is_compute(pipe)) use.compute = std::max(use.compute, cycles);
  }
  use.both = std::min(use.copy, use.compute);
  return use;
}

LaunchUse launch(const CoreUse& use, int cores = 8) {
  return {100, 5, cores, 8, std::vector<CoreUse>(static_cast<std::size_t>(cores), use)};
}

TEST(Verdict, TheBusyPipeIsTheLimit) {
  const std::pair<Pipe, Bound> kinds[] = {{Pipe::MTE2, Bound::CopyIn}, {Pipe::MTE3, Bound::CopyOut},
                                          {Pipe::FIX, Bound::CopyOut}, {Pipe::V, Bound::Vector},
                                          {Pipe::M, Bound::Cube},      {Pipe::MTE1, Bound::Feed},
                                          {Pipe::S, Bound::Scalar}};
  for (const auto& [pipe, bound] : kinds) {
    const Verdict v = judge(launch(core({{pipe, 900}})));
    EXPECT_EQ(v.bound, bound) << aicore::name(pipe);
    EXPECT_DOUBLE_EQ(v.share, 0.9);
    EXPECT_FALSE(v.advice.empty()) << aicore::name(pipe);
  }
}

TEST(Verdict, PipesInTurnWantDoubleBuffering) {
  CoreUse use = core({{Pipe::MTE2, 400}, {Pipe::V, 350}});
  use.both = 0;
  const Verdict v = judge(launch(use));
  EXPECT_EQ(v.bound, Bound::Waiting);
  EXPECT_THAT(v.advice, Contains(HasSubstr("double buffering")));
  EXPECT_THAT(v.advice, Contains(HasSubstr("up to 35 %")));
  use.both = 340;
  EXPECT_THAT(judge(launch(use)).advice, Each(Not(HasSubstr("double buffering"))));
}

TEST(Verdict, ShortCopiesWantMerging) {
  CoreUse use = core({{Pipe::MTE2, 900}});
  use.pipes[static_cast<std::size_t>(Pipe::MTE2)].bytes = 640;
  EXPECT_THAT(judge(launch(use)).advice, Contains(HasSubstr("copies in move 64 bytes each")));
  EXPECT_THAT(judge(launch(core({{Pipe::MTE2, 900}}))).advice, Each(Not(HasSubstr("bytes each"))));
}

TEST(Verdict, CoresThatDoNotWorkAndCoresThatWorkLonger) {
  EXPECT_THAT(judge(launch(core({{Pipe::V, 900}}), 3)).advice, Contains(HasSubstr("3 of 8 cores work")));
  LaunchUse uneven = launch(core({{Pipe::V, 900}}));
  for (std::size_t c = 1; c < 8; ++c) uneven.cores[c].cycles = 500;
  EXPECT_THAT(judge(uneven).advice, Contains(HasSubstr("1.78 times as long as the mean")));
  EXPECT_THAT(judge(launch(core({{Pipe::V, 900}}))).advice, Each(Not(HasSubstr("cores"))));
}

TEST(Verdict, ALaunchOfLittleWork) {
  LaunchUse small = launch(core({{Pipe::V, 900}}));
  small.us = 8;
  const Verdict v = judge(small);
  EXPECT_EQ(v.bound, Bound::Launch);
  EXPECT_DOUBLE_EQ(v.share, 0.625);
  EXPECT_THAT(v.advice, Contains(HasSubstr("5.0 of 8.0 us")));
  EXPECT_THAT(v.advice, Contains(HasSubstr("launch fewer blocks")));
  small.blocks = 1;
  small.cores.resize(1);
  EXPECT_THAT(judge(small).advice, Each(Not(HasSubstr("blocks")))) << "there are no fewer than one";
  EXPECT_EQ(judge(small).advice.size(), 1U) << "what the cores do is of no account";
  EXPECT_EQ(judge({5, 5, 1, 8, {}}).bound, Bound::Launch) << "no core worked";
}

}  // namespace
}  // namespace atc::profile
