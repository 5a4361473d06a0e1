#include "report/op_summary.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>

#include "atc/base/strings.h"
#include "atc/core_api.h"
#include "atc/ir/type.h"
#include "profile/pipe_table.h"
#include "report/task_operands.h"

namespace atc::report {
namespace {

using aicore::Pipe;
using profile::csv_field;
using profile::LaunchProfile;
using runtime::PreparedPlan;
using runtime::Simulation;
using runtime::TaskSimulation;

std::string_view task_type(const TaskSimulation& task, const soc::Chip& chip) {
  // A vector unit beside the cube that works on what the cube made.
  const bool mixed = chip.split && task.stats.busy[static_cast<std::size_t>(Pipe::V)] > 0;
  if (task.engine == "cube") return mixed ? "MIX_AIC" : "AI_CORE";
  if (task.engine == "vector" || task.engine == "custom") return chip.split ? "AI_VECTOR_CORE" : "AI_CORE";
  return "AI_CPU";
}

std::string fixed(double value, int digits = 3) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// Blocks on the vector cores beside the cube cores of a mixed task.
int mix_blocks(const plan::PlanTask& task, const TaskSimulation& simulated, const soc::Chip& chip) {
  if (task_type(simulated, chip) != "MIX_AIC") return 0;
  const bool one_each =
      task.engine == plan::Engine::Custom && task.custom.tiling.kernel_type == ATC_KERNEL_MIX_AIC_1_1;
  return simulated.blocks * (one_each ? 1 : chip.vector_blocks() / std::max(1, chip.cube_blocks()));
}

/// Percent of the cycles of all the chip's cube cores, while the task runs, in which a cube core worked on
/// it.
double cube_utilization(const LaunchProfile& launch, const soc::Chip& chip) {
  aicore::Cycle cycles = 0;
  for (const profile::CoreProfile& core : launch.cores)
    if (core.name.find("cubecore") != std::string::npos) cycles += profile::use_of(core).cycles;
  const double all = (launch.us - launch.launch_us) * launch.mhz * chip.cube_blocks();
  return all <= 0 ? 0 : 100 * static_cast<double>(cycles) / all;
}

/// The time in which memory is read, of that in which something is computed.
double memory_bound(const LaunchProfile& launch) {
  profile::CoreUse sum;
  for (const profile::CoreProfile& core : launch.cores) sum += profile::use_of(core);
  const aicore::Cycle computes = std::max(sum[Pipe::M].busy, sum[Pipe::V].busy);
  return computes == 0 ? 0 : static_cast<double>(sum[Pipe::MTE2].busy) / static_cast<double>(computes);
}

/// Shapes, types and formats of operands: "1,3,224,224;64,3,7,7", "FLOAT16;FLOAT16", "ND;NC1HWC0".
struct Operands {
  std::string shapes, dtypes, formats;
};

Operands operands_of(const PreparedPlan& prepared, const plan::PlanTask& task, bool outputs) {
  std::vector<std::string> shapes, dtypes, formats;
  for (const int index : tensors_of(task, outputs)) {
    const plan::PlanTensor& tensor = prepared.plan.tensors.at(static_cast<std::size_t>(index));
    std::vector<std::string> dims;
    for (const std::int64_t d : tensor.shape) dims.push_back(std::to_string(d));
    shapes.push_back(join(dims, ","));
    // AscendCL's names are those of ONNX but for one.
    dtypes.emplace_back(tensor.dtype == DType::BF16 ? "BF16" : onnx_name(tensor.dtype));
    formats.emplace_back(ir::name(tensor.format));
  }
  return {join(shapes, ";"), join(dtypes, ";"), join(formats, ";")};
}

struct PipeColumn {
  const char* name;
  Pipe pipe;
};
constexpr PipeColumn kCube[] = {{"mac", Pipe::M},
                                {"scalar", Pipe::S},
                                {"mte1", Pipe::MTE1},
                                {"mte2", Pipe::MTE2},
                                {"fixpipe", Pipe::FIX}};
constexpr PipeColumn kVector[] = {
    {"vec", Pipe::V}, {"scalar", Pipe::S}, {"mte2", Pipe::MTE2}, {"mte3", Pipe::MTE3}};
constexpr PipeColumn kJoined[] = {{"vec", Pipe::V},     {"mac", Pipe::M},     {"scalar", Pipe::S},
                                  {"mte1", Pipe::MTE1}, {"mte2", Pipe::MTE2}, {"mte3", Pipe::MTE3}};

/// One kind of core: its columns, and the mean of what the cores of that kind did.
class Group {
 public:
  Group(std::string prefix, std::span<const PipeColumn> pipes) : prefix_(std::move(prefix)), pipes_(pipes) {}

  void header(std::ostream& out) const {
    out << ',' << (prefix_ == "aiv_" ? "aiv_time(us)" : "aicore_time(us)") << ',' << prefix_
        << "total_cycles";
    for (const PipeColumn& p : pipes_)
      out << ',' << prefix_ << p.name << "_time(us)," << prefix_ << p.name << "_ratio";
    out << ',' << prefix_ << "icache_miss_rate";
  }

  /// `mine`: whether a core is of this kind.
  template <class Mine>
  void row(std::ostream& out, const LaunchProfile& launch, Mine mine) const {
    profile::CoreUse sum;
    std::int64_t cores = 0;
    aicore::Cycle longest = 0;
    for (const profile::CoreProfile& core : launch.cores) {
      if (!mine(core.name)) continue;
      const profile::CoreUse use = profile::use_of(core);
      longest = std::max(longest, use.cycles);
      sum += use;
      ++cores;
    }
    out << ',' << fixed(static_cast<double>(longest) / launch.mhz) << ',' << sum.cycles;
    for (const PipeColumn& p : pipes_) {
      const double mean = cores == 0 ? 0 : static_cast<double>(sum[p.pipe].busy) / static_cast<double>(cores);
      out << ',' << fixed(mean / launch.mhz) << ','
          << fixed(longest == 0 ? 0 : mean / static_cast<double>(longest));
    }
    out << ",N/A";  // instruction fetches are not simulated
  }

 private:
  std::string prefix_;
  std::span<const PipeColumn> pipes_;
};

}  // namespace

void write_op_summary(std::ostream& out, const PreparedPlan& prepared, const Simulation& simulation,
                      std::span<const LaunchProfile> launches) {
  const soc::Chip& chip = *prepared.chip;
  const Group cube("aic_", kCube), vector("aiv_", kVector), joined("", kJoined);
  out << "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,Task Start "
         "Time(us),"
         "Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data "
         "Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID";
  if (chip.split) {
    cube.header(out);
    vector.header(out);
    out << ",cube_utilization(%)";
  } else {
    joined.header(out);
    out << ",memory_bound";
  }
  out << '\n';
  for (std::size_t t = 0; t < simulation.tasks.size(); ++t) {
    const plan::PlanTask& task = prepared.plan.tasks[t];
    const TaskSimulation& simulated = simulation.tasks[t];
    const LaunchProfile& launch = launches[t];
    const Operands in = operands_of(prepared, task, false), result = operands_of(prepared, task, true);
    out << csv_field(prepared.plan.model_name) << ",1," << t << ",0,1," << csv_field(task.name) << ','
        << csv_field(task.op_type) << ",static," << task_type(simulated, chip) << ','
        << fixed(launch.start_us + launch.launch_us) << ',' << fixed(launch.us - launch.launch_us) << ','
        << fixed(launch.launch_us) << ',' << simulated.blocks << ',' << mix_blocks(task, simulated, chip)
        << ",NO";
    for (const Operands* o : {&in, &result})
      out << ",\"" << o->shapes << "\"," << csv_field(o->dtypes) << ',' << csv_field(o->formats);
    out << ",N/A";
    if (chip.split) {
      const auto is_cube = [](const std::string& core) { return core.find("cubecore") != std::string::npos; };
      cube.row(out, launch, is_cube);
      const bool mixed = task_type(simulated, chip) == "MIX_AIC";
      vector.row(out, launch, [&](const std::string& core) { return mixed || !is_cube(core); });
      out << ',' << fixed(cube_utilization(launch, chip));
    } else {
      joined.row(out, launch, [](const std::string&) { return true; });
      out << ',' << fixed(memory_bound(launch));
    }
    out << '\n';
  }
}

void write_op_statistic(std::ostream& out, const PreparedPlan& prepared, const Simulation& simulation) {
  struct Sum {
    int count = 0;
    double total = 0, min = 0, max = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  double all = 0;
  for (std::size_t t = 0; t < simulation.tasks.size(); ++t) {
    const TaskSimulation& simulated = simulation.tasks[t];
    Sum& sum = sums[{prepared.plan.tasks[t].op_type, std::string(task_type(simulated, *prepared.chip))}];
    sum.min = sum.count == 0 ? simulated.us : std::min(sum.min, simulated.us);
    sum.max = std::max(sum.max, simulated.us);
    sum.total += simulated.us;
    ++sum.count;
    all += simulated.us;
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Sum>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  out << "Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max "
         "Time(us),Ratio(%)\n";
  for (const auto& [key, sum] : rows)
    out << csv_field(prepared.plan.model_name) << ',' << csv_field(key.first) << ',' << key.second << ','
        << sum.count << ',' << fixed(sum.total) << ',' << fixed(sum.min) << ','
        << fixed(sum.total / sum.count) << ',' << fixed(sum.max) << ','
        << fixed(all > 0 ? 100 * sum.total / all : 0) << '\n';
}

void write_task_time(std::ostream& out, const PreparedPlan& prepared, const Simulation& simulation) {
  out << "kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n";
  double now = 0;
  for (std::size_t t = 0; t < simulation.tasks.size(); ++t) {
    const TaskSimulation& simulated = simulation.tasks[t];
    out << csv_field(prepared.plan.tasks[t].name) << ',' << task_type(simulated, *prepared.chip) << ",0," << t
        << ',' << fixed(simulated.us) << ',' << fixed(now) << ',' << fixed(now + simulated.us) << '\n';
    now += simulated.us;
  }
}

}  // namespace atc::report
