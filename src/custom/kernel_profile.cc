#include "custom/kernel_profile.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include "atc/base/file.h"
#include "profile/pipe_table.h"
#include "profile/trace_json.h"

namespace atc::custom {
namespace {

/// The blocks by the cores that ran them.
std::vector<profile::CoreProfile> cores_of(const ascendc::Outcome& outcome) {
  std::vector<profile::CoreProfile> cores;
  std::map<std::string, std::size_t> known;
  for (const ascendc::CoreRun& run : outcome.cores) {
    const auto [entry, fresh] = known.try_emplace(run.name, cores.size());
    if (fresh) cores.push_back({run.name, {}});
    auto trace = std::make_shared<profile::BlockTrace>();
    trace->events = run.trace;
    trace->cycles = run.stats.cycles;
    trace->use = profile::core_use(trace->events, trace->cycles);
    cores[entry->second].blocks.push_back({run.begin, std::move(trace)});
  }
  return cores;
}

bool has_cube(const std::vector<profile::CoreProfile>& cores) {
  return std::any_of(cores.begin(), cores.end(), [](const profile::CoreProfile& core) {
    return core.name.find("cubecore") != std::string::npos;
  });
}

}  // namespace

std::vector<profile::CoreProfile> cores_of(LaunchStats& stats) {
  const auto names = std::make_shared<const std::vector<std::string>>(std::move(stats.event_names));
  std::vector<profile::CoreProfile> cores;
  std::map<std::string, std::size_t> known;
  for (const LaunchCore& run : stats.cores) {
    const auto [entry, fresh] = known.try_emplace(run.name, cores.size());
    if (fresh) cores.push_back({run.name, {}});
    auto trace = std::make_shared<profile::BlockTrace>();
    for (const LaunchEvent& e : run.events) {
      if (e.pipe >= aicore::kPipeCount || e.name >= names->size()) continue;
      trace->events.push_back({static_cast<aicore::Pipe>(e.pipe), (*names)[e.name], e.start, e.end, e.bytes});
    }
    trace->cycles = run.cycles;
    trace->use = profile::core_use(trace->events, run.cycles);
    trace->names = names;
    cores[entry->second].blocks.push_back({run.begin, std::move(trace)});
  }
  stats.cores.clear();
  return cores;
}

Status KernelProfile::add(const std::string& kernel, const ascendc::Outcome& outcome, int blocks) {
  return add(kernel, cores_of(outcome), outcome.stats.cycles, blocks);
}

Status KernelProfile::add(const std::string& kernel, LaunchStats& stats, int blocks) {
  return add(kernel, cores_of(stats), stats.cycles, blocks);
}

Status KernelProfile::add(const std::string& kernel, std::vector<profile::CoreProfile> cores,
                          aicore::Cycle cycles, int blocks) {
  const bool cube = has_cube(cores);
  profile::LaunchProfile launch;
  launch.name = kernel;
  launch.type = "kernel";
  launch.blocks = blocks;
  launch.chip_cores = cube ? chip_.cube_blocks() : chip_.vector_blocks();
  launch.mhz = cube ? chip_.cube_mhz : chip_.vector_mhz;
  launch.launch_us = profile::launch_us(chip_, blocks);
  launch.us = launch.launch_us + static_cast<double>(cycles) / launch.mhz;
  launch.start_us = launches_.empty() ? 0 : launches_.back().start_us + launches_.back().us;
  launch.cores = std::move(cores);
  launches_.push_back(std::move(launch));

  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error)
    return Status::error("E13001", "cannot create the folder '" + folder_.string() + "': " + error.message());
  std::ostringstream pipes, trace;
  profile::write_pipe_table(pipes, launches_);
  profile::write_trace_json(trace, launches_);
  ATC_TRY(write_file(folder_ / "PipeUtilization.csv", pipes.str()));
  return write_file(folder_ / "trace.json", trace.str());
}

std::string KernelProfile::verdict() const {
  if (launches_.empty()) return "";
  const profile::LaunchProfile& launch = launches_.back();
  const profile::Verdict verdict = profile::judge(profile::use_of(launch));
  char figures[96];
  std::snprintf(figures, sizeof figures, ": %.2f us on %d blocks (launch %.2f us), bound by ", launch.us,
                launch.blocks, launch.launch_us);
  std::string out = launch.name + figures + std::string(profile::name(verdict.bound)) + "\n";
  for (const std::string& advice : verdict.advice) out += "  " + advice + "\n";
  return out;
}

}  // namespace atc::custom
