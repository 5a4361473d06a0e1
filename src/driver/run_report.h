#pragma once

#include <optional>
#include <string>
#include <vector>

#include "atc/base/tensor.h"
#include "runtime/simulate.h"
#include "runtime/tensor_io.h"

namespace atc::driver {

/// One input or output of a run.
struct PortReport {
  runtime::TensorSpec spec;
  std::string file;  ///< read from or written to; "" when there is none
  /// Over the finite-or-not elements as they are; absent in a dry run and for empty, string and complex
  /// tensors.
  struct Range {
    double min = 0, max = 0, mean = 0;
  };
  std::optional<Range> range;
};

/// What `omrun` tells of a run.
struct RunReport {
  std::string model;  ///< file
  std::string soc_version;
  int threads = 0;
  std::uint64_t seed = 0;
  std::vector<PortReport> inputs, outputs;
  double load_ms = 0;
  std::vector<double> wall_ms;          ///< one a loop; empty in a dry run
  std::vector<double> cpu_ms;           ///< time that all threads of the program worked, one a loop
  double first_ms = 0;                  ///< wall time of the very first run, warm-up or not
  double peak_rss_mb = 0;               ///< MiB
  runtime::Simulation simulation;       ///< its tasks are those of the plan, without the regions'
  std::vector<std::string> task_names;  ///< parallel to simulation.tasks
  /// Extent of the first axis of the first input that has one: what samples per second count.
  std::int64_t batch = 1;
  int ai_core_tasks = 0, ai_cpu_tasks = 0;
  int regions = 0;  ///< compiled when they run; their tasks and time count when they ran
  /// A task of a custom operator: its time is that of a run on seeded data.
  struct Custom {
    std::string task, op;
    std::int64_t cycles = 0;
    double us = 0;
  };
  std::vector<Custom> custom;
  std::string
      profile;  ///< what bounds the tasks and which are longest, for the table; empty without --profile
};

std::optional<PortReport::Range> range_of(const Tensor& tensor);

/// One JSON object, keys sorted. `simulated.samples_per_s` is batch / simulated time; `busy_cycles` of a task
/// sum over its blocks, `cycles` are its longest core's without the launch.
std::string to_json(const RunReport& report);
/// The same for people.
std::string to_table(const RunReport& report);

}  // namespace atc::driver
