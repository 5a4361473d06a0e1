#include <gtest/gtest.h>

#include <algorithm>

#include "aicore/core.h"

namespace atc::aicore {
namespace {

/// Cycles of one copy of `bytes` from (or to) Global Memory while `cores` are at work.
Cycle copy_cycles(const soc::Chip& chip, int cores, std::int64_t bytes, bool in_l2, bool write) {
  Core core(chip, Values::None, true);
  core.start_block(cores);
  Buffer& ub = core.alloc(Memory::UB, bytes);
  const Gm gm{nullptr, bytes, in_l2};
  if (write)
    core.copy_out(gm, 0, ub, 0, {1, bytes, bytes, bytes});
  else
    core.copy_in(ub, 0, gm, 0, {1, bytes, bytes, bytes});
  return core.stats().cycles;
}

constexpr std::int64_t kBytes = 96 * 1024;

TEST(Bandwidth, OneCoreMovesWhatItsPortDoes) {
  for (const soc::Chip& chip : soc::chips()) {
    const Cycle one = copy_cycles(chip, 1, kBytes, false, false);
    EXPECT_GE(one, kBytes / chip.ddr_read) << chip.name;
    EXPECT_LE(one, kBytes / chip.ddr_read + 400) << chip.name;
    EXPECT_EQ(copy_cycles(chip, std::min(2, chip.cube_cores), kBytes, false, false), one) << chip.name;
  }
}

// 40 vector cores of a 910B3 could move 2.3 TB/s; its memory moves 1.8: 25 bytes for each core and cycle.
TEST(Bandwidth, ManyCoresShareTheMemory) {
  const soc::Chip& chip = **soc::find_chip("Ascend910B3");
  const std::int64_t setup = copy_cycles(chip, 1, kBytes, false, false) - kBytes / 32;
  EXPECT_EQ(copy_cycles(chip, 20, kBytes, false, false), kBytes / 32 + setup);
  EXPECT_EQ(copy_cycles(chip, 40, kBytes, false, false), (kBytes + 24) / 25 + setup);
  EXPECT_EQ(copy_cycles(chip, 40, kBytes, false, true), (kBytes + 24) / 25 + setup);
  // L2 moves 110 bytes a cycle for each of the 20 cube cores.
  EXPECT_EQ(copy_cycles(chip, 40, kBytes, true, false), (kBytes + 54) / 55 + setup);
  EXPECT_LT(copy_cycles(chip, 20, kBytes, true, false), copy_cycles(chip, 40, kBytes, true, false));
}

}  // namespace
}  // namespace atc::aicore
