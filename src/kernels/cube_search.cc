#include "kernels/cube_search.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace atc::kernels {
namespace {

// As core.cc has them: the start of an instruction, and what the first access of a move to memory adds.
constexpr std::int64_t kStart = 8, kMoveStart = 33;
// More buffers of one operand than this only cost time to look through.
constexpr std::int64_t kMostBuffers = 64;
// Parts that the reduction is cut into, for L1.
constexpr std::int64_t kParts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128};

/// How often the longest core loads a part of each operand.
struct Loads {
  std::int64_t a = 0, b = 0;
};

Loads loads_of(const CubeProblem& p, const CubePlan& plan, std::int64_t tiles, std::int64_t parts,
               std::int64_t row_tiles, std::int64_t panel_tiles) {
  Loads n{tiles * parts, tiles * parts};
  const std::int64_t a_in_l1 = plan.a_buffers / parts, b_in_l1 = plan.b_buffers / parts;  // whole tiles
  if (!plan.rows_inner) {
    if (a_in_l1 >= 1) n.a = ceil_div(tiles, panel_tiles) * parts;
    if (b_in_l1 >= panel_tiles) {
      const std::int64_t times = p.b_shared ? 1 : ceil_div(tiles, row_tiles * panel_tiles);
      n.b = std::min(tiles, times * panel_tiles) * parts;
    }
  } else {
    const std::int64_t run = p.b_run_batches * row_tiles;  // tiles of equal columns
    if (b_in_l1 >= 1) n.b = ceil_div(tiles, run) * parts;
    if (a_in_l1 >= run) n.a = std::min(tiles, run) * parts;
  }
  return n;
}

// Activations of at most half of L2 are taken to be there still.
bool near(std::int64_t bytes, const soc::Chip& chip) { return bytes <= chip.l2 / 2; }

struct Mover {
  const soc::Chip& chip;
  std::int64_t cores;
  /// Cycles of a move of `bytes` in `blocks` stretches, of which `permille` pass between L2 and memory.
  std::int64_t cycles(std::int64_t bytes, std::int64_t blocks, int permille, bool write) const {
    const std::int64_t far = bytes * permille / 1000;
    return kMoveStart + blocks / 4 +
           std::max({bytes / (write ? chip.ub_write_l2 : chip.l2_read),
                     far / (write ? chip.ub_write_ddr : chip.ddr_read),
                     far * cores * chip.cube_mhz / chip.gm_mbps});
  }
};

/// The longest core's share of the tiles.
std::int64_t tiles_of(const CubeProblem& p, std::int64_t row_tiles, std::int64_t panel_tiles,
                      const soc::Chip& chip) {
  return ceil_div(p.batches * row_tiles * panel_tiles, std::int64_t{chip.cube_blocks()});
}

/// Cycles that one tile takes on the cube and on MTE1 when its parts need `slices` slices.
struct ProductCycles {
  std::int64_t cube, mte1;
  std::int64_t longer() const { return std::max(cube, mte1); }
};
ProductCycles product_cycles(const CubeProblem& p, const CubeTileSize& t, std::int64_t slices,
                             const soc::Chip& chip) {
  const std::int64_t m16 = round_up(t.m, 16), fractals = p.k_units * p.unit_fractals;
  const std::int64_t row_bytes = fractal_row_bytes(p.element_bytes);
  return {m16 / 16 * t.panels * fractals * (p.element_bytes == 4 ? 4 : 1) + slices * kStart,
          m16 * fractals * row_bytes / chip.l1_to_l0a +
              std::int64_t{t.panels} * 16 * fractals * row_bytes / chip.l1_to_l0b + slices * 2 * kStart};
}

}  // namespace

void estimate_plan(const CubeProblem& p, CubePlan& plan, const TileOperands& o, std::int64_t row_tiles,
                   std::int64_t panel_tiles, const soc::Chip& chip) {
  const CubeTileSize& t = plan.tile;
  const std::int64_t tiles = tiles_of(p, row_tiles, panel_tiles, chip);
  const std::int64_t all_tiles = p.batches * row_tiles * panel_tiles;
  const std::int64_t cores = std::min<std::int64_t>(chip.cube_blocks(), all_tiles);
  const std::int64_t parts = ceil_div(p.k_units, plan.k_chunk);
  const std::int64_t slices = parts * ceil_div(plan.k_chunk * p.unit_fractals, t.k_slice);
  const ProductCycles product = product_cycles(p, t, slices, chip);

  const Mover mover{chip, cores};
  const Loads n = loads_of(p, plan, tiles, parts, row_tiles, panel_tiles);
  // Bytes of one tile's operands; the last of its parts may be short.
  const std::int64_t a_tile = o.a_mean_bytes * p.k_units, b_tile = o.b_unit_bytes * p.k_units;
  plan.a_far = near(p.a_bytes, chip) ? 0
                                     : ddr_permille(p.a_bytes, p.a_bytes,
                                                    n.a * a_tile / parts * all_tiles / tiles, cores, chip.l2);
  plan.b_far = ddr_permille(p.b_bytes, p.b_bytes, n.b * b_tile / parts * all_tiles / tiles, cores, chip.l2);
  const auto a_load = [&](std::int64_t units) {
    return mover.cycles(o.a_mean_bytes * units, o.a_blocks * (o.a_blocks_grow ? units : 1), plan.a_far,
                        false);
  };
  const auto b_load = [&](std::int64_t units) {
    return mover.cycles(o.b_unit_bytes * units, o.b_blocks * (o.b_blocks_grow ? units : 1), plan.b_far,
                        false);
  };
  const std::int64_t usual = ceil_div(p.k_units, parts);

  const std::int64_t elements = std::int64_t{t.m} * t.panels * 16;
  const std::int64_t across = p.epilogue_lanes == 0 ? 1 : ceil_div(t.panels * 16, p.epilogue_lanes);
  const std::int64_t runs = ceil_div(t.m, plan.ub_rows) * across;
  const std::int64_t fixpipe = elements * 4 / chip.l0c_out + runs * kStart;
  const std::int64_t vector = elements * 4 / chip.vector_bytes * p.vector_passes +
                              runs * p.epilogue_runs * kStart + (chip.fixpipe ? 0 : fixpipe);
  const bool out_far = !near(p.batches * p.rows * p.panels * 16 * p.out_bytes, chip);
  const std::int64_t store =
      mover.cycles(elements * p.out_bytes, 0, out_far ? 1000 : 0, true) + (runs - 1) * kMoveStart;
  // On split cores the vector core fetches the accumulators through L2.
  const std::int64_t fetch = chip.split ? elements * 4 / (2 * chip.l2_read) + runs * kStart : 0;

  const std::int64_t out = std::max(fixpipe, vector);
  const std::int64_t tile = std::max({product.longer() + (plan.l0c_buffers > 1 ? 0 : out), out, store});
  // The first load, then the slowest of the other pipes; or all loads, then the last part of the last
  // product.
  const std::int64_t first = a_load(plan.k_chunk) + b_load(plan.k_chunk) + product.mte1 / slices;
  const std::int64_t loads = n.a * a_load(usual) + n.b * b_load(usual) + tiles * fetch;
  const std::int64_t drain = vector + fetch + (chip.fixpipe ? fixpipe / runs : 0) + store / runs;
  plan.cycles = std::max(first + tiles * tile, loads + product.longer() / parts) + drain;
}

CubeProblem epilogue_problem(const TileProgram& epilogue, const std::vector<Operand>& operands) {
  CubeProblem p;
  p.vector_passes = p.epilogue_runs = 0;
  for (const VecInstr& instr : epilogue.program().code) {
    if (instr.op == VecOp::Const || instr.op == VecOp::Acc) continue;
    const bool moves = instr.op == VecOp::Load || instr.op == VecOp::Store;
    const std::size_t k = static_cast<std::size_t>(instr.op == VecOp::Load ? instr.a : instr.dst) + 2;
    // Loads and stores of 16 or 8 bits are cast; values of one row cost their start only.
    const bool full = !moves || epilogue.operand_lanes(k - 2) == Lanes::Full;
    if (moves && instr.op == VecOp::Store) p.out_bytes += bit_width(operands[k].dtype) / 8;
    if (moves && bit_width(operands[k].dtype) == 32) continue;
    ++p.epilogue_runs;
    if (full) p.vector_passes += moves ? 1 : aicore::vector_passes(instr.op, instr.type);
  }
  return p;
}

void add_l1_plans(const CubeProblem& p, const CubePlan& tile, const TileOperands& o, std::int64_t row_tiles,
                  std::int64_t panel_tiles, const soc::Chip& chip, PlanList& list) {
  const std::int64_t fractals = p.k_units * p.unit_fractals;
  if (list.prune &&
      tiles_of(p, row_tiles, panel_tiles, chip) *
              product_cycles(p, tile.tile, ceil_div(fractals, tile.tile.k_slice), chip).longer() >
          list.lowest)
    return;
  std::int64_t last_chunk = 0;
  for (const std::int64_t parts_wanted : kParts) {
    if (parts_wanted > p.k_units) break;
    std::int64_t chunk = ceil_div(p.k_units, parts_wanted);
    if (p.unit_fractals == 1 && chunk < p.k_units)
      chunk = std::min(p.k_units, round_up(chunk, tile.tile.k_slice));
    if (chunk == last_chunk) continue;
    last_chunk = chunk;
    const std::int64_t parts = ceil_div(p.k_units, chunk);
    const std::int64_t a = round_up(o.a_unit_bytes * chunk, 32), b = round_up(o.b_unit_bytes * chunk, 32);
    struct Buffers {
      std::int64_t a, b;
      bool rows_inner;
    };
    const Buffers ways[] = {
        {2, 2, false},
        {2, 2, true},
        {parts, 2, false},                               // rows stay
        {2, parts, true},                                // columns stay
        {2, parts * panel_tiles, false},                 // all of B stays
        {parts * row_tiles * p.b_run_batches, 2, true},  // all of A stays
    };
    for (std::size_t i = 0; i < std::size(ways); ++i) {
      const Buffers& w = ways[i];
      if (w.a > kMostBuffers || w.b > kMostBuffers || w.a * a + w.b * b > chip.l1) continue;
      if (std::any_of(ways, ways + i, [&](const Buffers& x) {
            return std::tie(x.a, x.b, x.rows_inner) == std::tie(w.a, w.b, w.rows_inner);
          }))
        continue;
      if (w.rows_inner && row_tiles * p.batches == 1) continue;  // the same order
      CubePlan plan = tile;
      plan.k_chunk = chunk;
      plan.a_buffers = static_cast<int>(w.a);
      plan.b_buffers = static_cast<int>(w.b);
      plan.rows_inner = w.rows_inner;
      estimate_plan(p, plan, o, row_tiles, panel_tiles, chip);
      list.add(plan);
    }
  }
}

CubePlan best_plan(std::vector<CubePlan> plans, std::size_t finalists,
                   const std::function<std::int64_t(const CubePlan&)>& simulate) {
  std::vector<std::size_t> order(plans.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return plans[x].cycles < plans[y].cycles; });
  // Several tiles go to the final, not one in all its ways.
  const std::size_t most_of_a_tile = finalists >= plans.size() ? plans.size() : kFinalistsOfATile;
  std::map<std::pair<int, int>, std::size_t> of_tile;
  std::size_t best = order[0], simulated = 0;
  std::int64_t lowest = -1;
  for (const std::size_t i : order) {
    if (simulated == finalists) break;
    if (++of_tile[{plans[i].tile.m, plans[i].tile.panels}] > most_of_a_tile) continue;
    ++simulated;
    const std::int64_t cycles = simulate(plans[i]);
    if (lowest >= 0 && cycles >= lowest) continue;
    lowest = cycles;
    best = i;
  }
  plans[best].cycles = lowest;
  return plans[best];
}

std::int64_t longest_block(const PreparedKernel& kernel, const CubePlan& plan, std::int64_t tiles,
                           const std::vector<Operand>& operands, const soc::Chip& chip) {
  constexpr std::int64_t kFull = 48;  // longer blocks are run so far only
  std::vector<aicore::Gm> gm;
  for (const Operand& o : operands) gm.push_back({nullptr, o.bytes, false, near(o.bytes, chip) ? 0 : 1000});
  gm[0].ddr_permille = plan.a_far;
  gm[1].ddr_permille = plan.b_far;
  const std::vector<std::int64_t> blocks = split_tiles(tiles, chip.cube_blocks());
  const std::int64_t n = blocks[1];
  aicore::Core core(chip, aicore::Values::None, true);
  const auto cycles = [&](std::int64_t last) {
    core.start_block(static_cast<int>(blocks.size()) - 1);
    kernel.run(core, gm, 0, last);
    return core.stats().cycles;
  };
  if (n <= kFull) return cycles(n);
  const std::int64_t half = cycles(kFull / 2), full = cycles(kFull);
  return full + (n - kFull) * (full - half) / (kFull / 2);
}

int ddr_permille(std::int64_t bytes, std::int64_t missing, std::int64_t moved, std::int64_t cores,
                 std::int64_t l2) {
  if (bytes <= 0) return 0;
  moved = std::max(bytes, moved);
  const std::int64_t once = ceil_div(1000 * missing, moved);
  // missing * (moved / cores / bytes passes) / moved
  const std::int64_t each_pass = bytes <= l2 ? 0 : ceil_div(1000 * missing, cores * bytes);
  return static_cast<int>(std::max(once, each_pass));
}

}  // namespace atc::kernels
