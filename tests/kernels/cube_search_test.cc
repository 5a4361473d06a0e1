#include "kernels/cube_search.h"

#include <gtest/gtest.h>

#include "kernels/cube_conv_tiling.h"
#include "kernels/cube_matmul_tiling.h"
#include "kernels/harness.h"
#include "kernels/l1_pool.h"

namespace atc::kernels::testing {
namespace {

VectorProgram relu() {
  VectorProgram p;
  const int acc = p.emit(VecOp::Acc, RegType::F32);
  p.store(0, RegType::F32, p.emit(VecOp::Relu, RegType::F32, acc));
  return p;
}

struct Product {
  MatMulSpec spec;
  std::vector<Operand> operands;
  Product(std::int64_t m, std::int64_t k, std::int64_t n) {
    spec.m = m;
    spec.k = k;
    spec.n = n;
    spec.a = {0, {}, k, 1};
    spec.b = {0, {}, 0, 1};
    spec.epilogue_operands = {{0, {}, n, 1}};
    spec.epilogue = relu();
    operands = {{0, 0, m * k * 2, DType::F16, false},
                {1, 0, ceil_div(k, 16) * ceil_div(n, 16) * 512, DType::F16, false},
                {2, 0, m * n * 2, DType::F16, true}};
  }
};

// Every plan simulated: none is clearly better than the one that the search takes after a few.
TEST(CubeSearch, TakesTheBestOfAllPlans) {
  for (const char* soc : {"Ascend310P3", "Ascend910B3"})
    for (const auto& [m, k, n] :
         {std::array<std::int64_t, 3>{256, 256, 512}, {64, 1024, 96}, {16, 512, 1000}}) {
      const Product p(m, k, n);
      const TileProgram epilogue = *matmul_epilogue(p.spec, p.operands);
      MatMulTiling t;
      t.spec = p.spec;
      const auto simulate = [&](const CubePlan& plan) {
        const MatMulTiling candidate = t.with(plan);
        return longest_block(*matmul_kernel(candidate, epilogue, DType::F16), plan, candidate.tiles(),
                             p.operands, chip(soc));
      };
      const CubePlan chosen =
          best_plan(matmul_plans(p.spec, epilogue, p.operands, chip(soc)), kFinalists, simulate);
      const std::vector<CubePlan> all = matmul_plans(p.spec, epilogue, p.operands, chip(soc), false);
      const CubePlan best = best_plan(all, all.size(), simulate);
      EXPECT_LE(static_cast<double>(chosen.cycles), 1.02 * static_cast<double>(best.cycles))
          << soc << " " << m << " x " << k << " x " << n;
    }
}

// What the search simulates of a task is as long as any of its blocks: among them blocks that load the rows
// of two runs of tiles.
TEST(CubeSearch, SimulatesTheLongestBlock) {
  const Product p(2048, 768, 768);
  const TileProgram epilogue = *matmul_epilogue(p.spec, p.operands);
  MatMulTiling t;
  t.spec = p.spec;
  const soc::Chip& chip = testing::chip();
  int uneven = 0;
  for (const CubePlan& plan : matmul_plans(p.spec, epilogue, p.operands, chip)) {
    if (plan.tile.m != 128 || plan.tile.panels != 8) continue;
    const MatMulTiling tiling = t.with(plan);
    const auto kernel = matmul_kernel(tiling, epilogue, DType::F16);
    const std::vector<std::int64_t> blocks = split_tiles(tiling.tiles(), chip.cube_blocks());
    std::vector<aicore::Gm> gm;
    for (const Operand& o : p.operands) gm.push_back({nullptr, o.bytes, false, 0});
    gm[0].ddr_permille = plan.a_far;
    gm[1].ddr_permille = plan.b_far;
    aicore::Core core(chip, aicore::Values::None, true);
    std::int64_t longest = 0, first = 0;
    for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
      core.start_block(static_cast<int>(blocks.size()) - 1);
      kernel->run(core, gm, blocks[b], blocks[b + 1]);
      longest = std::max(longest, core.stats().cycles);
      if (b == 0) first = core.stats().cycles;
    }
    EXPECT_EQ(longest_block(*kernel, plan, tiling.tiles(), p.operands, chip), longest);
    uneven += first < longest ? 1 : 0;
  }
  EXPECT_GT(uneven, 0);
}

TEST(CubeSearch, IsRepeatable) {
  const Product p(200, 300, 400);
  const Task a = *make_matmul_task(p.spec, p.operands, chip()),
             b = *make_matmul_task(p.spec, p.operands, chip());
  EXPECT_EQ(a.params, b.params);
  EXPECT_EQ(a.block_tiles, b.block_tiles);
}

TEST(CubeSearch, CoresShareALargeProductEvenly) {
  const Product p(2048, 768, 768);
  const Task task = *make_matmul_task(p.spec, p.operands, chip("Ascend310P3"));
  ASSERT_EQ(task.blocks(), 8);
  const std::int64_t tiles = task.block_tiles.back();
  EXPECT_LE(ceil_div(tiles, std::int64_t{8}) * 8, tiles + tiles / 10);
}

// Bytes that fit in L2 come once, however often the cores read them; bytes that do not fit come once for each
// pass of all cores together.
TEST(CubeSearch, MemoryIsReadOnceAPass) {
  EXPECT_EQ(ddr_permille(1000, 1000, 1000, 8, 5000), 1000);
  EXPECT_EQ(ddr_permille(1000, 1000, 8000, 8, 5000), 125);
  EXPECT_EQ(ddr_permille(1000, 500, 8000, 8, 5000), 63);
  EXPECT_EQ(ddr_permille(1000, 0, 8000, 8, 5000), 0);
  EXPECT_EQ(ddr_permille(1000, 1000, 8000, 8, 500), 125);   // one pass of 8 cores
  EXPECT_EQ(ddr_permille(1000, 1000, 80000, 8, 500), 125);  // ten of them
  EXPECT_EQ(ddr_permille(1000, 1000, 2000, 8, 500), 500);   // parts of the cores, read twice
  EXPECT_EQ(ddr_permille(0, 0, 0, 8, 500), 0);
}

TEST(L1Pool, LoadsWhatIsNotThere) {
  aicore::Core core(chip(), aicore::Values::None, true);
  core.start_block(1);
  L1Pool pool(core, 2, 64);
  int loads = 0;
  const auto get = [&](std::int64_t key) {
    return pool.get({key, 0, 0}, [&](aicore::Buffer& l1) {
      ++loads;
      aicore::Core::CubeTile tile;
      tile.buffer = &l1;
      return tile;
    });
  };
  const aicore::Buffer* first = get(1).buffer;
  EXPECT_NE(get(2).buffer, first);
  EXPECT_EQ(get(1).buffer, first);
  EXPECT_EQ(loads, 2);
  EXPECT_EQ(get(3).buffer, first);  // in turn
  get(1);
  EXPECT_EQ(loads, 4);
}

}  // namespace
}  // namespace atc::kernels::testing
