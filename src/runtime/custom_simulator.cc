#include "runtime/custom_simulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "atc/base/math.h"
#include "custom/kernel_profile.h"
#include "runtime/random_input.h"

namespace atc::runtime {
namespace {

constexpr std::uint64_t kSeed = 0;
constexpr std::int64_t kAlignment = 512;

/// Bytes of all operands of a task, each aligned.
std::int64_t bytes_of(const kernels::Task& task) {
  std::int64_t bytes = 0;
  for (const kernels::Operand& o : task.operands) bytes += round_up(o.bytes, kAlignment);
  return bytes;
}

bool is_cube(std::uint32_t kernel_type) {
  switch (kernel_type) {
    case ATC_KERNEL_AIV_ONLY:
    case ATC_KERNEL_MIX_AIV_1_0:
    case ATC_KERNEL_VECTORCORE:
    case ATC_KERNEL_MIX_VECTORCORE:
      return false;
    default:
      return true;
  }
}

std::string key_of(const plan::PlanTask& task) {
  custom::WireWriter w;
  w(task.custom.library), w(task.custom.op), w(task.custom.combination), w(task.custom.args);
  io(w, const_cast<custom::Tiling&>(task.custom.tiling));
  for (const kernels::Operand& o : task.kernel.operands) w(o.bytes), w(o.dtype), w(o.output);
  return w.take();
}

}  // namespace

Status CustomSimulator::start() {
  if (runner_ != nullptr) return {};
  std::int64_t most = 0;
  for (const plan::PlanTask& task : prepared_.plan.tasks)
    if (task.engine == plan::Engine::Custom) most = std::max(most, bytes_of(task.kernel));
  memory_ = std::make_shared<custom::SharedMemory>(static_cast<std::size_t>(most));
  ATC_ASSIGN(runner_, CustomRunner::create(prepared_, {{memory_}, 0}));
  return {};
}

StatusOr<custom::LaunchStats> CustomSimulator::launch(std::size_t index) {
  const kernels::Task& task = prepared_.plan.tasks[index].kernel;
  std::vector<aicore::Gm> operands;
  std::byte* at = memory_->data();
  for (std::size_t i = 0; i < task.operands.size(); ++i) {
    const kernels::Operand& o = task.operands[i];
    operands.push_back({at, o.bytes, false});
    at += round_up(o.bytes, kAlignment);
    // Integers stay zero: most are indices, and any table has a first row.
    if (o.output || o.bytes == 0 || !is_float(o.dtype)) continue;
    const std::int64_t count = o.bytes / std::max(1, bit_width(o.dtype) / 8);
    const Tensor values = random_tensor({"", o.dtype, {count}}, kSeed, i);
    std::memcpy(operands.back().data, values.data.data(), values.data.size());
  }
  return runner_->run(index, operands, true, profile_);
}

StatusOr<TaskSimulation> CustomSimulator::run(std::size_t index) {
  const plan::PlanTask& task = prepared_.plan.tasks[index];
  ATC_TRY(start());
  const auto [entry, fresh] = known_.try_emplace(key_of(task));
  if (fresh) {
    ATC_ASSIGN(entry->second.stats, launch(index));
    entry->second.cores = custom::cores_of(entry->second.stats);
  }
  const custom::LaunchStats& stats = entry->second.stats;
  const bool cube = is_cube(task.custom.tiling.kernel_type);
  TaskSimulation out;
  out.from_data = true;
  out.cores = entry->second.cores;
  out.engine = cube ? "cube" : "vector";
  out.blocks = task.kernel.blocks();
  out.tiles = out.blocks;
  out.stats.cycles = stats.cycles;
  for (std::size_t p = 0; p < std::min(stats.busy.size(), out.stats.busy.size()); ++p)
    out.stats.busy[p] = stats.busy[p];
  out.stats.gm_read = stats.gm_read;
  out.stats.gm_written = stats.gm_written;
  out.stats.instructions = stats.instructions;
  const double mhz = cube ? prepared_.chip->cube_mhz : prepared_.chip->vector_mhz;
  out.cycles = std::llround(profile::launch_us(*prepared_.chip, out.blocks) * mhz) + stats.cycles;
  out.us = static_cast<double>(out.cycles) / mhz;
  return out;
}

}  // namespace atc::runtime
