#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "profile/launch_profile.h"
#include "runtime/prepared_plan.h"
#include "runtime/simulate.h"

namespace atc::report {

/// A profile of a run: what the simulator said of each task, with SimulateOptions::profile.
struct ProfileReport {
  const runtime::PreparedPlan& prepared;
  const runtime::Simulation& simulation;
};

/// Writes into `folder`, which is made when it is missing; files of an earlier profile there are replaced:
/// - "op_summary.csv", "op_statistic.csv", "task_time.csv": columns of msprof's files of these names, one
/// run,
///   model and stream 1 and 0; the PMU columns are those of its PipeUtilization group, without cache misses,
///   which are not modelled;
/// - "PipeUtilization.csv": cycles busy, waiting and overlapping of each pipe of each core (pipe_table.h);
/// - "trace.json": for chrome://tracing and Perfetto (trace_json.h);
/// - "profile.json": schema_version 1, sorted keys, the same to the byte for the same .om: "us", "by_bound"
/// (us
///   by what limits the tasks) and for each task its times, what bounds it and what to try ("advice"). omdiff
///   compares two of them.
/// Tasks on the AI CPU have times alone; regions, which are compiled when they run, none.
Status write_profile(const ProfileReport& report, const std::filesystem::path& folder);

/// What bounds the tasks, and those that take longest with what to try; for people.
std::string profile_table(const ProfileReport& report, std::size_t most = 12);

}  // namespace atc::report
