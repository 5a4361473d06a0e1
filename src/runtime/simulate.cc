#include "runtime/simulate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "atc/base/check.h"
#include "kernels/cube_search.h"
#include "runtime/custom_simulator.h"
#include "runtime/l2_contents.h"

namespace atc::runtime {
namespace {

using BlockKey = std::vector<std::int64_t>;

/// Parts of L2 in which the progress of a task is told apart.
constexpr std::int64_t kL2Steps = 32;

/// The address spaces of a plan, one behind the other.
class AddressMap {
 public:
  explicit AddressMap(const plan::Plan& plan) {
    input_ = plan.arena_bytes;
    for (const plan::PlanTensor& t : plan.tensors) {
      if (t.space == plan::Space::Input || t.space == plan::Space::Output)
        largest_ = std::max(largest_, t.bytes + t.offset);
      ports_ = std::max<std::int64_t>(ports_, t.index + 1);
    }
    weight_ = input_ + 2 * ports_ * largest_;
  }
  /// Where a tensor begins; Held tensors, which only regions use, have no place.
  std::optional<std::int64_t> begin(const plan::PlanTensor& t) const {
    switch (t.space) {
      case plan::Space::Arena:
        return t.offset;
      case plan::Space::Weight:
        return weight_ + t.offset;
      case plan::Space::Input:
        return input_ + t.index * largest_ + t.offset;
      case plan::Space::Output:
        return input_ + (ports_ + t.index) * largest_ + t.offset;
      case plan::Space::Held:
        break;
    }
    return std::nullopt;
  }

 private:
  std::int64_t input_ = 0, weight_ = 0, largest_ = 0, ports_ = 0;
};

/// As msopprof calls cores.
std::string core_name(const soc::Chip& chip, bool cube, int index) {
  if (!chip.split) return "core" + std::to_string(index);
  if (cube) return "core" + std::to_string(index) + ".cubecore0";
  const int per_core = std::max(1, chip.vector_cores / std::max(1, chip.cube_cores));
  return "core" + std::to_string(index / per_core) + ".veccore" + std::to_string(index % per_core);
}

/// Dry-runs tasks; remembers blocks by what determines their cycles.
class Simulator {
 public:
  Simulator(const PreparedPlan& prepared, SimulateOptions options)
      : prepared_(prepared),
        options_(options),
        chip_(*prepared.chip),
        core_(chip_, aicore::Values::None, true),
        addresses_(prepared.plan),
        l2_(prepared.chip->l2) {
    // The state that the run before has left.
    for (const plan::PlanTask& task : prepared_.plan.tasks) touch(task);
  }

  StatusOr<TaskSimulation> run(std::size_t index) {
    const plan::PlanTask& task = prepared_.plan.tasks[index];
    const std::vector<L2Contents::Traffic> traffic = touch(task);
    if (task.engine == plan::Engine::Custom) {
      if (!options_.load_libraries) {
        TaskSimulation unknown;
        unknown.engine = "custom";
        unknown.blocks = task.kernel.blocks();
        return unknown;
      }
      if (!custom_) custom_.emplace(prepared_, options_.profile);
      return custom_->run(index);
    }
    if (task.engine == plan::Engine::Region) {
      TaskSimulation unknown;
      unknown.engine = "region";
      return unknown;
    }
    return task.engine == plan::Engine::AiCore ? ai_core(task.kernel, prepared_.tasks[index], traffic)
                                               : ai_cpu(task);
  }

 private:
  /// A range of addresses that a task uses, and what L2 had of it.
  struct Use {
    std::int64_t begin = 0, bytes = 0;
    bool write = false;
    L2Contents::Traffic traffic;
  };

  /// Moves a task's tensors through L2: one entry an operand (of an AI CPU task a tensor). The task goes over
  /// all of them side by side, from their beginnings to their ends, so what does not fit together pushes out
  /// what has yet to be read.
  std::vector<L2Contents::Traffic> touch(const plan::PlanTask& task) {
    std::vector<Use> uses;
    const auto add = [&](int index, std::int64_t offset, std::int64_t bytes, bool write) {
      const plan::PlanTensor& tensor = prepared_.plan.tensors.at(static_cast<std::size_t>(index));
      const std::optional<std::int64_t> begin = addresses_.begin(tensor);
      uses.push_back({begin.value_or(0) + offset, begin ? bytes : 0, write, {}});
    };
    if (task.engine == plan::Engine::AiCore || task.engine == plan::Engine::Custom) {
      for (const kernels::Operand& o : task.kernel.operands) add(o.tensor, o.offset, o.bytes, o.output);
    } else {
      for (const std::vector<int>* list : {&task.inputs, &task.outputs})
        for (const int t : *list)
          add(t, 0, prepared_.plan.tensors.at(static_cast<std::size_t>(t)).bytes, list == &task.outputs);
    }
    std::int64_t all = 0;
    for (const Use& use : uses) all += use.bytes;
    const std::int64_t steps = std::clamp<std::int64_t>(all / (chip_.l2 / kL2Steps), 1, kL2Steps);
    for (std::int64_t s = 0; s < steps; ++s)
      for (const bool write : {false, true})
        for (Use& use : uses) {
          if (use.write != write) continue;
          const std::int64_t from = use.bytes * s / steps, to = use.bytes * (s + 1) / steps;
          const L2Contents::Traffic t = l2_.touch(use.begin + from, to - from, write);
          use.traffic.hits += t.hits;
          use.traffic.written_back += t.written_back;
        }
    std::vector<L2Contents::Traffic> traffic;
    for (const Use& use : uses) traffic.push_back(use.traffic);
    return traffic;
  }

  TaskSimulation ai_core(const kernels::Task& task, const PreparedTask& prepared,
                         const std::vector<L2Contents::Traffic>& traffic) {
    const bool cube = prepared.kernel_def->cube;
    TaskSimulation result;
    result.engine = cube ? "cube" : "vector";
    result.blocks = task.blocks();
    result.tiles = task.block_tiles.back() - task.block_tiles.front();
    const int cores =
        std::min(std::max(1, cube ? chip_.cube_blocks() : chip_.vector_blocks()), std::max(1, task.blocks()));

    std::vector<aicore::Gm> operands;
    for (const kernels::Operand& operand : task.operands) operands.push_back({nullptr, operand.bytes});
    set_ddr_shares(task, prepared, traffic, cores, operands);
    const BlockKey task_key = key_of(task, prepared, operands);
    // Blocks beyond the cores wait for the first core that is free, in order.
    std::vector<aicore::Cycle> core_end(static_cast<std::size_t>(cores), 0);
    if (options_.profile)
      for (int c = 0; c < std::min(cores, task.blocks()); ++c)
        result.cores.push_back({core_name(chip_, cube, c), {}});
    for (int b = 0; b < task.blocks(); ++b) {
      const BlockRun& block =
          block_run(task, *prepared.kernel, operands, task_key, b, static_cast<int>(core_end.size()));
      const auto core = std::min_element(core_end.begin(), core_end.end());
      if (options_.profile)
        result.cores[static_cast<std::size_t>(core - core_end.begin())].blocks.push_back(
            {*core, block.trace});
      *core += block.stats.cycles;
      add(result.stats, block.stats);
    }
    result.stats.cycles = *std::max_element(core_end.begin(), core_end.end());
    const double mhz = cube ? chip_.cube_mhz : chip_.vector_mhz;
    result.cycles = std::llround(profile::launch_us(chip_, task.blocks()) * mhz) + result.stats.cycles;
    result.us = static_cast<double>(result.cycles) / mhz;
    return result;
  }

  /// What share of each operand's bytes passes between L2 and memory.
  void set_ddr_shares(const kernels::Task& task, const PreparedTask& prepared,
                      const std::vector<L2Contents::Traffic>& traffic, int cores,
                      std::vector<aicore::Gm>& operands) {
    constexpr std::int64_t kAll = 1000;
    std::int64_t written_back = 0;
    bool far = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      written_back += traffic[i].written_back;
      const bool resident = task.operands[i].output || traffic[i].hits >= operands[i].bytes;
      operands[i].ddr_permille = resident ? 0 : static_cast<int>(kAll);
      far = far || !resident;
    }
    if (!far && written_back == 0) return;
    std::vector<std::int64_t> moved(operands.size(), 0);
    const BlockKey task_key = key_of(task, prepared, operands);
    for (int b = 0; b < task.blocks(); ++b) {
      const BlockRun& block = block_run(task, *prepared.kernel, operands, task_key, b, cores);
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += block.moved[i];
    }
    std::int64_t written = 0;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (task.operands[i].output) written += moved[i];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (task.operands[i].output) {
        operands[i].ddr_permille =
            written == 0 ? 0 : static_cast<int>(std::min(kAll, kAll * written_back / written));
      } else if (operands[i].ddr_permille != 0) {
        operands[i].ddr_permille = kernels::ddr_permille(
            operands[i].bytes, operands[i].bytes - traffic[i].hits, moved[i], cores, chip_.l2);
      }
    }
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

  /// All that two tasks must share for equal tile keys to mean equal cycles.
  static BlockKey key_of(const kernels::Task& task, const PreparedTask& prepared,
                         const std::vector<aicore::Gm>& operands) {
    BlockKey key = {prepared.kernel_def - kernels::all_kernels().data(),
                    static_cast<std::int64_t>(task.params.size())};
    key.insert(key.end(), task.params.begin(), task.params.end());
    for (std::size_t i = 0; i < operands.size(); ++i)
      key.insert(key.end(), {operands[i].bytes, static_cast<std::int64_t>(task.operands[i].dtype),
                             operands[i].ddr_permille});
    return key;
  }

  struct BlockRun {
    aicore::Stats stats;
    std::vector<std::int64_t> moved;  // bytes, one an operand
    std::shared_ptr<const profile::BlockTrace> trace;
  };

  const BlockRun& block_run(const kernels::Task& task, const kernels::PreparedKernel& kernel,
                            std::vector<aicore::Gm> operands, const BlockKey& task_key, int block,
                            int active_cores) {
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
      BlockRun& run = entry->second;
      run.moved.assign(operands.size(), 0);
      for (std::size_t i = 0; i < operands.size(); ++i) operands[i].moved = &run.moved[i];
      core_.start_block(active_cores);
      auto trace = std::make_shared<profile::BlockTrace>();
      if (options_.profile) core_.set_trace(&trace->events);
      kernel.run(core_, operands, first, last);
      core_.set_trace(nullptr);
      run.stats = core_.stats();
      if (options_.profile) {
        trace->cycles = run.stats.cycles;
        trace->use = profile::core_use(trace->events, trace->cycles);
        run.trace = std::move(trace);
      }
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
  const SimulateOptions options_;
  const soc::Chip& chip_;
  aicore::Core core_;
  AddressMap addresses_;
  L2Contents l2_;
  std::map<BlockKey, BlockRun> blocks_;
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

StatusOr<Simulation> simulate(const PreparedPlan& prepared, SimulateOptions options) {
  Simulation result;
  try {
    Simulator simulator(prepared, options);
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
