#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/cube_tiling.h"
#include "kernels/tile_program.h"
#include "soc/chip.h"

namespace atc::kernels {

/// What the search for the tiles of a cube task must know of it. The output is `batches` matrices of rows x
/// panels (of 16 columns), each a sum over `k_units` units of `unit_fractals` fractals (a matrix product: 1;
/// a convolution: a block of channels, the taps).
struct CubeProblem {
  std::int64_t batches = 1;
  std::int64_t rows = 1, panels = 1;
  std::int64_t k_units = 1, unit_fractals = 1;
  int element_bytes = 2;
  bool b_shared = true;            ///< all batches multiply by the same B
  std::int64_t b_run_batches = 1;  ///< batches with the same B, one behind the other, when rows are inner
  std::int64_t a_bytes = 0;        ///< of the whole operand
  std::int64_t b_bytes = 0;
  std::int64_t out_bytes = 0;      ///< stored for each element of the output
  std::int64_t vector_passes = 1;  ///< of the epilogue, over f32
  std::int64_t epilogue_runs =
      1;  ///< instructions' worth of starts the epilogue has for each `epilogue_lanes`
  std::int64_t epilogue_lanes = 0;  ///< columns that the epilogue takes at once; 0: all of a tile's
};

/// The part of a problem that the epilogue and its operands (from operand 2 on) decide.
CubeProblem epilogue_problem(const TileProgram& epilogue, const std::vector<Operand>& operands);

/// The two operands of one output tile in L1.
struct TileOperands {
  std::int64_t a_unit_bytes = 0, b_unit_bytes = 0;    ///< of one k unit
  std::int64_t a_mean_bytes = 0;                      ///< of one k unit of the tiles on average
  std::int64_t a_blocks = 1, b_blocks = 1;            ///< stretches that a load of one unit is made of ...
  bool a_blocks_grow = false, b_blocks_grow = false;  ///< ... for each unit, or whatever the units
};

/// How a cube task is cut; see CubeTileSize for the tile.
struct CubePlan {
  CubeTileSize tile;
  std::int64_t k_chunk = 1;          ///< k units in L1 at once
  int a_buffers = 2, b_buffers = 2;  ///< in L1
  int l0c_buffers = 2;
  bool rows_inner = false;  ///< consecutive tiles share columns (B), else rows (A)
  std::int64_t run = 1;     ///< so many of them
  std::int64_t period = 1;  ///< after so many tiles their sizes repeat
  std::int64_t ub_rows = 1;
  int images = 1;            ///< of a convolution: items of the batch in a tile
  int a_far = 0, b_far = 0;  ///< thousandths of what is moved of A and B that come from memory
  std::int64_t cycles = 0;   ///< estimated, of the longest core, without the launch
};

/// Plans of one task. With `prune`, those are left out whose cube and L1 work alone takes longer than another
/// plan's estimate.
struct PlanList {
  std::vector<CubePlan> plans;
  bool prune = true;
  std::int64_t lowest = INT64_MAX;  ///< estimate
  void add(const CubePlan& plan) {
    plans.push_back(plan);
    lowest = std::min(lowest, plan.cycles);
  }
};

/// Adds every way to hold the operands of tiles of `tile` in L1, with its estimate. `row_tiles` and
/// `panel_tiles` are those of one batch.
void add_l1_plans(const CubeProblem& problem, const CubePlan& tile, const TileOperands& operands,
                  std::int64_t row_tiles, std::int64_t panel_tiles, const soc::Chip& chip, PlanList& list);
/// Sets the estimated cycles and shares of memory of a plan.
void estimate_plan(const CubeProblem& problem, CubePlan& plan, const TileOperands& operands,
                   std::int64_t row_tiles, std::int64_t panel_tiles, const soc::Chip& chip);

/// The plan of fewest cycles when the `finalists` of lowest estimate are simulated; ties go to the earlier
/// one. `simulate` gives the cycles of the longest core.
CubePlan best_plan(std::vector<CubePlan> plans, std::size_t finalists,
                   const std::function<std::int64_t(const CubePlan&)>& simulate);

/// How many plans of lowest estimate are simulated, and how many of them may be of one tile.
inline constexpr std::size_t kFinalists = 20;
inline constexpr std::size_t kFinalistsOfATile = 4;

/// Cycles of the longest block of a task of `tiles` tiles over the chip's cubes (the first one, or of those
/// with as many tiles one that touches most runs), operands in L2 where they
/// may be (A and B as `plan` has it). Of long blocks a part is run and the rest taken to go on like it.
std::int64_t longest_block(const PreparedKernel& kernel, const CubePlan& plan, std::int64_t tiles,
                           const std::vector<Operand>& operands, const soc::Chip& chip);

/// Thousandths of what `cores` cores together move of an operand that come from memory rather than L2, when
/// `missing` of its `bytes` are not in L2 at first. Each byte comes once as long as the operand fits in L2,
/// else once for each time that a core passes over all of it: cores pass together. (MODEL.md)
int ddr_permille(std::int64_t bytes, std::int64_t missing, std::int64_t moved, std::int64_t cores,
                 std::int64_t l2);

}  // namespace atc::kernels
