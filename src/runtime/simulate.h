#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "aicore/core.h"
#include "atc/base/status.h"
#include "profile/launch_profile.h"
#include "runtime/prepared_plan.h"

namespace atc::runtime {

/// The AI CPU's time for a task: a launch (a message to another processor), one pass of scalar work for
/// each element read or written, and its memory traffic. Rough orders of magnitude of an embedded ARM
/// core, not measurements.
inline constexpr double kAiCpuLaunchUs = 20.0;
inline constexpr double kAiCpuElementNs = 2.0;
inline constexpr double kAiCpuBytesPerNs = 4.0;

/// The modelled time of one task.
struct TaskSimulation {
  std::string engine;  ///< "cube", "vector", "ai_cpu", "region": see Session::region_simulation, "custom"
  std::int64_t cycles = 0;  ///< launch included, of the engine's clock
  double us = 0;
  int blocks = 0;  ///< 0 on the AI CPU
  std::int64_t tiles = 0;
  aicore::Stats stats;     ///< sums over the blocks; `cycles` is the longest block's
  bool from_data = false;  ///< a custom kernel, run on seeded data: its control may depend on values
  std::vector<profile::CoreProfile> cores;  ///< with SimulateOptions::profile: what the AI Cores did
};

struct EngineTotal {
  int tasks = 0;
  std::int64_t cycles = 0;
  double us = 0;
};

/// The modelled time of one run; tasks run one after the other.
struct Simulation {
  std::int64_t cycles = 0;  ///< of the cube clock, for the whole run
  double us = 0;
  std::vector<TaskSimulation> tasks;  ///< parallel to the plan's
  std::map<std::string, EngineTotal> by_engine;
};

/// Modelled time of the AI CPU for work on `elements` elements and `bytes` of memory.
double ai_cpu_us(double elements, double bytes);
/// Adds `times` runs of another part of the model: to the totals, not to the tasks.
void add_runs(Simulation& sum, const Simulation& part, int times, const soc::Chip& chip);

struct SimulateOptions {
  /// False: what runs custom operators takes no time. Tools that only look at a file must not load what is in
  /// it.
  bool load_libraries = true;
  bool profile = false;  ///< every instruction of every core
};

/// Dry run of every task on the AI Core model (src/aicore/MODEL.md). A task takes its launch and its longest
/// block; blocks whose tiles have equal keys are run once. The run is one of many: L2 begins with what the
/// run before has left there. Kernels of custom operators are run on seeded data. E19999 when a kernel breaks
/// a rule, CustomRunner's errors for custom ones.
StatusOr<Simulation> simulate(const PreparedPlan& prepared, SimulateOptions options = {});

}  // namespace atc::runtime
