#include "kernels/block_count.h"

#include <algorithm>
#include <cmath>

#include "aicore/core.h"
#include "atc/base/math.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

/// Tiles whose time says whether a task is large.
constexpr std::int64_t kProbe = 8;

class Measure {
 public:
  Measure(const Task& task, const KernelDef& def, std::unique_ptr<PreparedKernel> kernel,
          const soc::Chip& chip)
      : core_(chip, aicore::Values::None, true), tiles_(task.block_tiles.back()), kernel_(std::move(kernel)) {
    for (const Operand& o : task.operands)
      operands_.push_back({nullptr, o.bytes, false, o.bytes <= chip.l2 / 2 ? 0 : 1000});
    const double mhz = def.cube ? chip.cube_mhz : chip.vector_mhz;
    of_a_block_ = chip.launch_block_us * mhz;
  }

  /// Cycles of the launch of a block more.
  double of_a_block() const { return of_a_block_; }

  /// Of `tiles` tiles on one of `blocks` cores.
  double block(std::int64_t tiles, std::int64_t blocks) {
    core_.start_block(static_cast<int>(blocks));
    kernel_->run(core_, operands_, 0, tiles);
    return static_cast<double>(core_.stats().cycles);
  }

  /// What depends on the number of blocks, with the tiles split evenly.
  double all(std::int64_t blocks) {
    return of_a_block_ * static_cast<double>(blocks) + block(ceil_div(tiles_, blocks), blocks);
  }

 private:
  aicore::Core core_;
  std::int64_t tiles_;
  std::unique_ptr<PreparedKernel> kernel_;
  std::vector<aicore::Gm> operands_;
  double of_a_block_ = 0;
};

/// Blocks that take `each` tiles, all but the last.
std::int64_t blocks_for(std::int64_t tiles, std::int64_t each) { return ceil_div(tiles, each); }

std::int64_t best_count(Measure& measure, std::int64_t tiles, std::int64_t most) {
  const std::int64_t each = ceil_div(tiles, most);
  const double launch = measure.of_a_block() * static_cast<double>(most);
  // Half of the blocks save half of the launch and take the work of a block more.
  if (each > kProbe && measure.block(kProbe, most) > 2 * launch) return most;
  const double first = measure.block(each, most);
  if (first > 2 * launch) return most;
  const double step = (measure.block(std::min(tiles, 2 * each), most) - first) / static_cast<double>(each);
  const auto estimate = [&](std::int64_t n) {
    return measure.of_a_block() * static_cast<double>(blocks_for(tiles, n)) + first +
           step * static_cast<double>(n - each);
  };
  std::int64_t best = each;
  for (std::int64_t n = each + 1; n <= tiles; ++n) {
    // Only the least number of tiles for each number of blocks.
    if (blocks_for(tiles, n) == blocks_for(tiles, n - 1)) continue;
    if (estimate(n) < estimate(best)) best = n;
  }
  // The estimate was linear; what is taken is measured.
  std::int64_t chosen = blocks_for(tiles, each);
  double lowest = measure.of_a_block() * static_cast<double>(chosen) + first;
  for (const std::int64_t n : {best, best / 2, std::min(tiles, 2 * best)}) {
    if (n <= each) continue;
    const std::int64_t blocks = blocks_for(tiles, n);
    if (const double time = measure.all(blocks); time < lowest) {
      lowest = time;
      chosen = blocks;
    }
  }
  return chosen;
}

std::vector<std::int64_t> key_of(const Task& task, const KernelDef& def) {
  std::vector<std::int64_t> key = {&def - all_kernels().data(), task.blocks(), task.block_tiles.back()};
  key.insert(key.end(), task.params.begin(), task.params.end());
  for (const Operand& o : task.operands) key.insert(key.end(), {o.bytes, static_cast<std::int64_t>(o.dtype)});
  return key;
}

}  // namespace

void BlockCount::choose(Task& task) {
  const KernelDef* def = find_kernel(task.kernel);
  const std::int64_t tiles = task.block_tiles.back();
  if (def == nullptr || task.blocks() < 2 || chip_.launch_block_us <= 0) return;
  const auto [known, fresh] = known_.try_emplace(key_of(task, *def), task.blocks());
  if (fresh) {
    // What the loader will refuse (extents beyond any device) is told there.
    auto kernel = def->prepare(task, chip_);
    if (!kernel.ok()) return;
    Measure measure(task, *def, std::move(kernel).value(), chip_);
    known->second = static_cast<int>(best_count(measure, tiles, task.blocks()));
  }
  if (known->second < task.blocks()) task.block_tiles = split_tiles(tiles, known->second);
}

}  // namespace atc::kernels
