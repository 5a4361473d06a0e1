#include "kernels/block_count.h"

#include <gtest/gtest.h>

#include "kernels/cube_matmul_tiling.h"
#include "kernels/harness.h"

namespace atc::kernels::testing {
namespace {

/// [m, k] x [k, n] in fp16.
Task product(std::int64_t m, std::int64_t k, std::int64_t n, const soc::Chip& on) {
  MatMulSpec spec;
  spec.m = m;
  spec.k = k;
  spec.n = n;
  spec.a = {0, {}, k, 1};
  spec.b = {0, {}, 0, 1};
  spec.epilogue_operands = {{0, {}, n, 1}};
  const int acc = spec.epilogue.emit(VecOp::Acc, RegType::F32);
  spec.epilogue.store(0, RegType::F32, spec.epilogue.emit(VecOp::Relu, RegType::F32, acc));
  return *make_matmul_task(spec,
                           {{0, 0, m * k * 2, DType::F16, false},
                            {1, 0, ceil_div(k, 16) * ceil_div(n, 16) * 512, DType::F16, false},
                            {2, 0, m * n * 2, DType::F16, true}},
                           on);
}

/// Microseconds from the launch to the end of the longest block.
double us(Task task, int blocks, const soc::Chip& on) {
  task.block_tiles = split_tiles(task.block_tiles.back(), blocks);
  const KernelDef& def = *find_kernel(task.kernel);
  Memory none;
  const RunResult run = run_prepared(**def.prepare(task, on), task, on, none, aicore::Values::None, true);
  return on.launch_us + on.launch_block_us * task.blocks() +
         static_cast<double>(run.longest()) / (def.cube ? on.cube_mhz : on.vector_mhz);
}

// Held against every number of blocks.
TEST(BlockCount, IsCloseToTheBest) {
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{64, 256, 256},
                                  {64, 256, 1024},
                                  {196, 768, 768},
                                  {512, 768, 3072},
                                  {16, 4096, 4096},
                                  {2048, 1024, 1024}}) {
      const soc::Chip& on = chip(soc);
      Task task = product(m, k, n, on);
      const int most = task.blocks();
      BlockCount count(on);
      count.choose(task);
      ASSERT_LE(task.blocks(), most);
      double best = us(task, most, on);
      for (int b = 1; b < most; ++b) best = std::min(best, us(task, b, on));
      EXPECT_LE(us(task, task.blocks(), on), 1.08 * best)
          << soc << " " << m << " x " << k << " x " << n << ": " << task.blocks() << " of " << most;
    }
}

TEST(BlockCount, ASmallTaskTakesFewCoresAndALargeOneAll) {
  const soc::Chip& on = chip("Ascend910B3");
  BlockCount count(on);
  Task small = product(64, 64, 512, on), large = product(4096, 4096, 4096, on);
  const int most = small.blocks();
  ASSERT_GT(most, 4);
  count.choose(small);
  EXPECT_LT(small.blocks(), most / 2);
  EXPECT_EQ(small.block_tiles.front(), 0);
  count.choose(large);
  EXPECT_EQ(large.blocks(), on.cube_blocks());
}

TEST(BlockCount, EqualTasksTakeAsManyAndOneBlockStays) {
  const soc::Chip& on = chip("Ascend910B3");
  BlockCount count(on);
  Task a = product(64, 256, 256, on), b = a, alone = a;
  count.choose(a);
  count.choose(b);
  EXPECT_EQ(a.block_tiles, b.block_tiles);
  alone.block_tiles = split_tiles(alone.block_tiles.back(), 1);
  count.choose(alone);
  EXPECT_EQ(alone.blocks(), 1);
}

TEST(BlockCount, WhereBlocksCostNothingAllCoresWork) {
  soc::Chip free = chip("Ascend910B3");
  free.launch_block_us = 0;
  Task task = product(64, 256, 256, free);
  const int most = task.blocks();
  BlockCount(free).choose(task);
  EXPECT_EQ(task.blocks(), most);
}

}  // namespace
}  // namespace atc::kernels::testing
