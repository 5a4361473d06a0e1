#include "runtime/simulate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "atc/base/check.h"
#include "runtime/custom_simulator.h"

namespace atc::runtime {
namespace {

using BlockKey = std::vector<std::int64_t>;

/// Dry-runs tasks; remembers blocks by what determines their cycles.
class Simulator {
 public:
  Simulator(const PreparedPlan& prepared, bool load_libraries)
      : prepared_(prepared),
        load_libraries_(load_libraries),
        chip_(*prepared.chip),
        core_(chip_, aicore::Values::None, true) {}

  StatusOr<TaskSimulation> run(std::size_t index) {
    const plan::PlanTask& task = prepared_.plan.tasks[index];
    if (task.engine == plan::Engine::Custom) {
      if (!load_libraries_) {
        TaskSimulation unknown;
        unknown.engine = "custom";
        unknown.blocks = task.kernel.blocks();
        return unknown;
      }
      if (!custom_) custom_.emplace(prepared_);
      return custom_->run(index);
    }
    if (task.engine == plan::Engine::Region) {
      TaskSimulation unknown;
      unknown.engine = "region";
      return unknown;
    }
    return task.engine == plan::Engine::AiCore ? ai_core(task.kernel, prepared_.tasks[index]) : ai_cpu(task);
  }

 private:
  TaskSimulation ai_core(const kernels::Task& task, const PreparedTask& prepared) {
    const bool cube = prepared.kernel_def->cube;
    TaskSimulation result;
    result.engine = cube ? "cube" : "vector";
    result.blocks = task.blocks();
    result.tiles = task.block_tiles.back() - task.block_tiles.front();
    const int cores = std::max(1, cube ? chip_.cube_blocks() : chip_.vector_blocks());

    const std::vector<aicore::Gm> operands = dry_operands(task);
    const BlockKey task_key = key_of(task, prepared, operands);
    // Blocks beyond the cores wait for the first core that is free, in order.
    std::vector<aicore::Cycle> core_end(static_cast<std::size_t>(std::min(cores, std::max(1, task.blocks()))),
                                        0);
    for (int b = 0; b < task.blocks(); ++b) {
      const aicore::Stats& block =
          block_stats(task, *prepared.kernel, operands, task_key, b, static_cast<int>(core_end.size()));
      *std::min_element(core_end.begin(), core_end.end()) += block.cycles;
      add(result.stats, block);
    }
    result.stats.cycles = *std::max_element(core_end.begin(), core_end.end());
    const double mhz = cube ? chip_.cube_mhz : chip_.vector_mhz;
    result.cycles = std::llround(kLaunchUs * mhz) + result.stats.cycles;
    result.us = static_cast<double>(result.cycles) / mhz;
    return result;
  }

  TaskSimulation ai_cpu(const plan::PlanTask& task) {
    double bytes = 0, elements = 0;
    for (const std::vector<int>* list : {&task.inputs, &task.outputs})
      for (const int index : *list) {
        const plan::PlanTensor& tensor = prepared_.plan.tensors.at(static_cast<std::size_t>(index));
        bytes += static_cast<double>(tensor.bytes);
        elements += static_cast<double>(element_count(tensor.shape));
      }
    TaskSimulation result;
    result.engine = "ai_cpu";
    // A product evaluated by the reference costs one pass for each multiply-accumulate.
    const double work = std::max(elements, static_cast<double>(task.kernel.macs));
    result.us = ai_cpu_us(work, bytes);
    result.cycles = std::llround(result.us * chip_.cube_mhz);
    return result;
  }

  std::vector<aicore::Gm> dry_operands(const kernels::Task& task) const {
    const bool arena_in_l2 = prepared_.plan.arena_bytes <= chip_.l2;
    std::vector<aicore::Gm> operands;
    for (const kernels::Operand& operand : task.operands) {
      const plan::PlanTensor& tensor = prepared_.plan.tensors.at(static_cast<std::size_t>(operand.tensor));
      operands.push_back({nullptr, operand.bytes, arena_in_l2 && tensor.space == plan::Space::Arena});
    }
    return operands;
  }

  /// All that two tasks must share for equal tile keys to mean equal cycles.
  static BlockKey key_of(const kernels::Task& task, const PreparedTask& prepared,
                         const std::vector<aicore::Gm>& operands) {
    BlockKey key = {prepared.kernel_def - kernels::all_kernels().data(),
                    static_cast<std::int64_t>(task.params.size())};
    key.insert(key.end(), task.params.begin(), task.params.end());
    for (std::size_t i = 0; i < operands.size(); ++i)
      key.insert(key.end(), {operands[i].bytes, static_cast<std::int64_t>(task.operands[i].dtype),
                             operands[i].in_l2 ? 1 : 0});
    return key;
  }

  const aicore::Stats& block_stats(const kernels::Task& task, const kernels::PreparedKernel& kernel,
                                   const std::vector<aicore::Gm>& operands, const BlockKey& task_key,
                                   int block, int active_cores) {
    const std::int64_t first = task.block_tiles[static_cast<std::size_t>(block)];
    const std::int64_t last = task.block_tiles[static_cast<std::size_t>(block) + 1];
    BlockKey key = task_key;
    key.push_back(active_cores);
    for (std::int64_t tile = first; tile < last; ++tile) {  // as runs: (tile key, how often)
      const std::int64_t tile_key = kernel.tile_key(tile);
      if (tile == first || key[key.size() - 2] != tile_key)
        key.insert(key.end(), {tile_key, 1});
      else
        ++key.back();
    }
    const auto [entry, fresh] = blocks_.try_emplace(std::move(key));
    if (fresh) {
      core_.start_block(active_cores);
      kernel.run(core_, operands, first, last);
      entry->second = core_.stats();
    }
    return entry->second;
  }

  static void add(aicore::Stats& sum, const aicore::Stats& block) {
    for (std::size_t p = 0; p < sum.busy.size(); ++p) sum.busy[p] += block.busy[p];
    sum.gm_read += block.gm_read;
    sum.gm_written += block.gm_written;
    sum.instructions += block.instructions;
  }

  const PreparedPlan& prepared_;
  const bool load_libraries_;
  const soc::Chip& chip_;
  aicore::Core core_;
  std::map<BlockKey, aicore::Stats> blocks_;
  std::optional<CustomSimulator> custom_;
};

}  // namespace

double ai_cpu_us(double elements, double bytes) {
  return kAiCpuLaunchUs + (elements * kAiCpuElementNs + bytes / kAiCpuBytesPerNs) / 1000;
}

void add_runs(Simulation& sum, const Simulation& part, int times, const soc::Chip& chip) {
  for (const auto& [engine, total] : part.by_engine) {
    if (engine == "region") continue;  // what is in it is counted itself
    EngineTotal& mine = sum.by_engine[engine];
    mine.tasks += total.tasks * times;
    mine.cycles += total.cycles * times;
    mine.us += total.us * times;
    sum.us += total.us * times;
  }
  sum.cycles = std::llround(sum.us * chip.cube_mhz);
}

StatusOr<Simulation> simulate(const PreparedPlan& prepared, bool load_libraries) {
  Simulation result;
  try {
    Simulator simulator(prepared, load_libraries);
    for (std::size_t t = 0; t < prepared.plan.tasks.size(); ++t) {
      StatusOr<TaskSimulation> simulated = simulator.run(t);
      if (!simulated.ok())
        return std::move(simulated).status().while_doing("simulating task '" + prepared.plan.tasks[t].name +
                                                         "'");
      const TaskSimulation& task = result.tasks.emplace_back(std::move(simulated).value());
      EngineTotal& total = result.by_engine[task.engine];
      ++total.tasks;
      total.cycles += task.cycles;
      total.us += task.us;
      result.us += task.us;
    }
  } catch (const InternalError& error) {
    const std::size_t failed = result.tasks.size();
    Status status = Status::error("E19999", error.what());
    if (failed < prepared.plan.tasks.size())
      return std::move(status).while_doing("simulating task '" + prepared.plan.tasks[failed].name + "'");
    return status;
  }
  result.cycles = std::llround(result.us * prepared.chip->cube_mhz);
  return result;
}

}  // namespace atc::runtime
