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
// Parts that the reduction is cut into, for L1; only of a tile that none of these lets in are there more.
constexpr std::int64_t kParts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128};

/// How often a core with most tiles loads a part of each operand.
struct Loads {
  std::int64_t a = 0, b = 0;
};

/// Runs of `run` tiles that `tiles` consecutive ones touch at most, of blocks that are all of so many tiles.
std::int64_t runs_touched(std::int64_t tiles, std::int64_t run) {
  if (tiles % run == 0 || run % tiles == 0) return ceil_div(tiles, run);
  return std::min(tiles, (tiles - 2) / run + 2);
}

// Of the usual core; `most`: of one that touches most runs.
Loads loads_of(const CubeProblem& p, const CubePlan& plan, std::int64_t tiles, std::int64_t parts,
               std::int64_t row_tiles, std::int64_t panel_tiles, bool most) {
  const auto runs = [&](std::int64_t run) { return most ? runs_touched(tiles, run) : ceil_div(tiles, run); };
  Loads n{tiles * parts, tiles * parts};
  const std::int64_t a_in_l1 = plan.a_buffers / parts, b_in_l1 = plan.b_buffers / parts;  // whole tiles
  if (!plan.rows_inner) {
    if (a_in_l1 >= 1) n.a = runs(panel_tiles) * parts;
    if (b_in_l1 >= panel_tiles) {
      const std::int64_t times = p.b_shared ? 1 : ceil_div(tiles, row_tiles * panel_tiles);
      n.b = std::min(tiles, times * panel_tiles) * parts;
    }
  } else {
    const std::int64_t run = p.b_run_batches * row_tiles;  // tiles of equal columns
    if (b_in_l1 >= 1) n.b = runs(run) * parts;
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

// Of the blocks with most tiles the first one that touches most runs of tiles: it loads what stays in L1 most
// often.
std::int64_t first_tile_of_longest(const std::vector<std::int64_t>& blocks, std::int64_t run) {
  std::int64_t most = 0, chosen = 0;
  for (std::size_t b = 0; b + 1 < blocks.size() && blocks[b + 1] - blocks[b] == blocks[1]; ++b) {
    const std::int64_t touched = (blocks[b + 1] - 1) / run - blocks[b] / run;
    if (b > 0 && touched <= most) continue;
    most = touched;
    chosen = blocks[b];
  }
  return chosen;
}

/// Cycles of a product of one tile over so many fractals in so many slices, on the cube and on MTE1.
struct ProductCycles {
  std::int64_t cube, mte1;
  std::int64_t longer() const { return std::max(cube, mte1); }
};
ProductCycles product_cycles(const CubeProblem& p, const CubeTileSize& t, std::int64_t fractals,
                             std::int64_t slices, const soc::Chip& chip) {
  const std::int64_t m16 = round_up(t.m, 16), row_bytes = fractal_row_bytes(p.element_bytes);
  return {m16 / 16 * t.panels * fractals * (p.element_bytes == 4 ? 4 : 1) + slices * kStart,
          m16 * fractals * row_bytes / chip.l1_to_l0a +
              std::int64_t{t.panels} * 16 * fractals * row_bytes / chip.l1_to_l0b + slices * 2 * kStart};
}

/// Cycles of one of equal parts of a tile's product: LoadData of a slice runs beside Mmad of the one before,
/// which may be a fractal shorter.
std::int64_t part_cycles(const CubeProblem& p, const CubeTileSize& t, std::int64_t fractals,
                         const soc::Chip& chip) {
  const std::int64_t slices = ceil_div(fractals, std::int64_t{t.k_slice});
  const std::int64_t small = fractals / slices, large = fractals % slices,
                     turns = std::min(large, slices - large);
  const ProductCycles of_small = product_cycles(p, t, small, 1, chip),
                      of_large = product_cycles(p, t, small + 1, 1, chip);
  return (large - turns) * of_large.longer() + (slices - large - turns) * of_small.longer() +
         turns * (std::max(of_small.cube, of_large.mte1) + std::max(of_large.cube, of_small.mte1));
}

}  // namespace

void estimate_plan(const CubeProblem& p, CubePlan& plan, const TileOperands& o, std::int64_t row_tiles,
                   std::int64_t panel_tiles, const soc::Chip& chip) {
  const CubeTileSize& t = plan.tile;
  const std::int64_t tiles = tiles_of(p, row_tiles, panel_tiles, chip);
  const std::int64_t all_tiles = p.batches * row_tiles * panel_tiles;
  const std::int64_t cores = std::min<std::int64_t>(chip.cube_blocks(), all_tiles);
  const std::int64_t parts = ceil_div(p.k_units, plan.k_chunk);
  const std::int64_t fractals = p.k_units * p.unit_fractals;
  const std::int64_t slices = parts * ceil_div(plan.k_chunk * p.unit_fractals, t.k_slice);
  const std::int64_t product = std::max(parts * part_cycles(p, t, fractals / parts, chip),
                                        product_cycles(p, t, fractals, slices, chip).longer());

  plan.run = plan.rows_inner ? p.b_run_batches * row_tiles : panel_tiles;
  plan.period = plan.rows_inner ? row_tiles : row_tiles * panel_tiles;
  const Mover mover{chip, cores};
  const Loads n = loads_of(p, plan, tiles, parts, row_tiles, panel_tiles, true);
  const Loads usual_loads = loads_of(p, plan, tiles, parts, row_tiles, panel_tiles, false);
  // Bytes of one tile's operands; the last of its parts may be short.
  const std::int64_t a_tile = o.a_mean_bytes * p.k_units, b_tile = o.b_unit_bytes * p.k_units;
  plan.a_far = near(p.a_bytes, chip)
                   ? 0
                   : ddr_permille(p.a_bytes, p.a_bytes, usual_loads.a * a_tile / parts * all_tiles / tiles,
                                  cores, chip.l2);
  plan.b_far =
      ddr_permille(p.b_bytes, p.b_bytes, usual_loads.b * b_tile / parts * all_tiles / tiles, cores, chip.l2);
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
  const std::int64_t tile = std::max({product + (plan.l0c_buffers > 1 ? 0 : out), out, store});
  // Each tile takes as long as its loads or the slowest of the other pipes. The first one loads both
  // operands: it waits for their first parts, or ends with the product of the last ones.
  const std::int64_t a = parts * a_load(usual), b = parts * b_load(usual);
  const std::int64_t first_parts = a_load(plan.k_chunk) + b_load(plan.k_chunk) +
                                   product_cycles(p, t, fractals, slices, chip).mte1 / slices;
  const std::int64_t first = std::max(first_parts + tile, a + b + fetch + product / parts);
  // Of the others, those that load A, B, both or neither.
  const std::int64_t others = tiles - 1, with_a = std::min(n.a / parts - 1, others),
                     with_b = std::min(n.b / parts - 1, others),
                     both = std::max<std::int64_t>(0, with_a + with_b - others);
  const std::int64_t rest =
      both * std::max(tile, a + b + fetch) + (with_a - both) * std::max(tile, a + fetch) +
      (with_b - both) * std::max(tile, b + fetch) + (others - with_a - with_b + both) * std::max(tile, fetch);
  const std::int64_t drain = vector + fetch + (chip.fixpipe ? fixpipe / runs : 0) + store / runs;
  plan.cycles = first + rest + drain;
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
              product_cycles(p, tile.tile, fractals, ceil_div(fractals, tile.tile.k_slice), chip).longer() >
          list.lowest)
    return;
  std::int64_t last_chunk = 0, parts_wanted = 0;
  bool fits = false;
  for (std::size_t at = 0; at < std::size(kParts) || !fits; ++at) {
    parts_wanted = at < std::size(kParts) ? kParts[at] : parts_wanted * 2;
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
      fits = true;
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
  // Longer blocks than twice this are run so far only, and taken to go on like the second half: of whole
  // periods, for tiles at an edge are smaller.
  constexpr std::int64_t kHalf = 24, kLongestPeriod = 48;
  const std::int64_t half = plan.period <= kLongestPeriod ? round_up(kHalf, plan.period) : kHalf;
  std::vector<aicore::Gm> gm;
  for (const Operand& o : operands) gm.push_back({nullptr, o.bytes, false, near(o.bytes, chip) ? 0 : 1000});
  gm[0].ddr_permille = plan.a_far;
  gm[1].ddr_permille = plan.b_far;
  const std::vector<std::int64_t> blocks = split_tiles(tiles, chip.cube_blocks());
  const std::int64_t n = blocks[1];
  aicore::Core core(chip, aicore::Values::None, true);
  const auto cycles = [&](std::int64_t first, std::int64_t count) {
    core.start_block(static_cast<int>(blocks.size()) - 1);
    kernel.run(core, gm, first, first + count);
    return core.stats().cycles;
  };
  if (n > 2 * half) {
    const std::int64_t first = cycles(0, half), both = cycles(0, 2 * half);
    return both + (n - 2 * half) * (both - first) / half;
  }
  // The first block has no short tile where another may; another may load more.
  const std::int64_t first = first_tile_of_longest(blocks, plan.run);
  return first == 0 ? cycles(0, n) : std::max(cycles(0, n), cycles(first, n));
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
