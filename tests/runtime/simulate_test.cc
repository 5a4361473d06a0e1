#include "runtime/simulate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/sample_plan.h"

namespace atc::runtime {
namespace {

Simulation simulated(const SamplePlan& sample) {
  StatusOr<Simulation> result = simulate(*sample.prepared());
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return std::move(result).value();
}

TEST(Simulate, CountsTasksByEngine) {
  const SamplePlan sample(64);
  const Simulation s = simulated(sample);
  ASSERT_EQ(s.tasks.size(), 3U);
  EXPECT_EQ(s.tasks[0].engine, "vector");
  EXPECT_EQ(s.tasks[2].engine, "ai_cpu");
  ASSERT_EQ(s.by_engine.size(), 2U);
  EXPECT_EQ(s.by_engine.at("vector").tasks, 2);
  EXPECT_EQ(s.by_engine.at("ai_cpu").tasks, 1);
  EXPECT_NEAR(s.us, s.by_engine.at("vector").us + s.by_engine.at("ai_cpu").us, 1e-9);
  const soc::Chip& chip = *soc::find_chip("Ascend910B3").value();
  EXPECT_EQ(s.cycles, std::llround(s.us * chip.cube_mhz));
  EXPECT_EQ(s.tasks[0].blocks, sample.plan.tasks[0].kernel.blocks());
  EXPECT_EQ(s.tasks[0].tiles, sample.plan.tasks[0].kernel.block_tiles.back());
}

TEST(Simulate, ATaskTakesItsLaunchAndItsLongestBlock) {
  const SamplePlan sample(64);
  const soc::Chip& chip = *soc::find_chip("Ascend910B3").value();
  const TaskSimulation task = simulated(sample).tasks[0];
  EXPECT_EQ(task.cycles,
            std::llround(profile::launch_us(chip, task.blocks) * chip.vector_mhz) + task.stats.cycles);
  EXPECT_GT(task.stats.cycles, 0);
  EXPECT_NEAR(task.us, static_cast<double>(task.cycles) / chip.vector_mhz, 1e-9);
}

TEST(Simulate, AllBytesCrossGlobalMemoryOnce) {
  const SamplePlan sample(3000);
  const Simulation s = simulated(sample);
  const std::int64_t bytes = 3000 * 48 * 4;
  EXPECT_EQ(s.tasks[0].stats.gm_read, bytes);
  EXPECT_EQ(s.tasks[0].stats.gm_written, bytes);
  EXPECT_EQ(s.tasks[1].stats.gm_read, 2 * bytes);
}

TEST(Simulate, MoreWorkTakesLonger) {
  EXPECT_GT(simulated(SamplePlan(40000)).tasks[0].stats.cycles,
            5 * simulated(SamplePlan(4000)).tasks[0].stats.cycles);
}

TEST(Simulate, OneBlockTakesLongerThanMany) {
  SamplePlan sample(4000);
  const std::int64_t many = simulated(sample).tasks[0].stats.cycles;
  kernels::Task& task = sample.plan.tasks[0].kernel;
  ASSERT_GT(task.blocks(), 2);
  task.block_tiles = {0, task.block_tiles.back()};
  EXPECT_GT(simulated(sample).tasks[0].stats.cycles, 2 * many);
}

// 910B3 has 192 MiB of L2: 40,000 rows are 8 MB a tensor, 400,000 rows 77 MB, five of which do not fit.
TEST(Simulate, TensorsBeyondL2ComeFromMemory) {
  const auto per_row = [](std::int64_t rows) {
    return static_cast<double>(simulated(SamplePlan(rows)).tasks[1].stats.cycles) / static_cast<double>(rows);
  };
  EXPECT_GT(per_row(400'000), 1.2 * per_row(40'000));
}

// The second of two equal runs finds its weights where the first has left them: the first task's input too.
TEST(Simulate, ARunBeginsWithWhatTheOneBeforeHasLeft) {
  const SamplePlan sample(40'000);
  const soc::Chip& chip = *soc::find_chip("Ascend910B3").value();
  const double bytes = 40'000.0 * 48 * 4,
               cycles = static_cast<double>(simulated(sample).tasks[0].stats.cycles);
  EXPECT_LT(cycles, bytes * chip.vector_mhz / chip.gm_mbps);
}

TEST(Simulate, AiCpuTimeFollowsItsFormula) {
  const SamplePlan sample(64);
  const double elements = 2 * 64 * 48, bytes = 4 * elements;
  EXPECT_NEAR(simulated(sample).tasks[2].us,
              kAiCpuLaunchUs + (elements * kAiCpuElementNs + bytes / kAiCpuBytesPerNs) / 1000, 1e-9);
}

TEST(Simulate, IsRepeatable) {
  const SamplePlan sample(3000);
  const Simulation a = simulated(sample), b = simulated(sample);
  EXPECT_EQ(a.cycles, b.cycles);
  for (std::size_t t = 0; t < a.tasks.size(); ++t) EXPECT_EQ(a.tasks[t].cycles, b.tasks[t].cycles);
}

}  // namespace
}  // namespace atc::runtime
