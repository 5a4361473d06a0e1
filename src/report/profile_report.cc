#include "report/profile_report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "atc/base/file.h"
#include "atc/base/strings.h"
#include "profile/pipe_table.h"
#include "profile/trace_json.h"
#include "profile/verdict.h"
#include "report/engine_name.h"
#include "report/op_summary.h"
#include "report/task_profile.h"

namespace atc::report {
namespace {

using nlohmann::json;
using profile::LaunchProfile;

/// The launches in order, one behind the other.
std::vector<LaunchProfile> launches_of(const ProfileReport& report) {
  const soc::Chip& chip = *report.prepared.chip;
  std::vector<LaunchProfile> out;
  double now = 0;
  for (std::size_t t = 0; t < report.simulation.tasks.size(); ++t) {
    out.push_back(profile_of(report.prepared.plan.tasks[t], report.simulation.tasks[t], chip, now));
    now += out.back().us;
  }
  return out;
}

json pipes_json(const profile::CoreUse& use) {
  json out = json::object();
  for (std::size_t p = 0; p < use.pipes.size(); ++p) {
    const profile::PipeUse& pipe = use.pipes[p];
    if (pipe.instructions == 0) continue;
    out[std::string(aicore::name(static_cast<aicore::Pipe>(p)))] = {{"busy", pipe.busy},
                                                                    {"wait", pipe.wait},
                                                                    {"overlap", pipe.overlap},
                                                                    {"instructions", pipe.instructions}};
  }
  return out;
}

json task_json(const plan::PlanTask& task, const runtime::TaskSimulation& simulated,
               const LaunchProfile& launch) {
  json j = {{"name", task.name},           {"op_type", task.op_type},   {"engine", engine_name(task.engine)},
            {"core", simulated.engine},    {"sources", task.sources},   {"us", simulated.us},
            {"start_us", launch.start_us}, {"blocks", simulated.blocks}};
  if (launch.cores.empty()) return j;
  const profile::LaunchUse use = profile::use_of(launch);
  const profile::Verdict verdict = profile::judge(use);
  const profile::CoreUse& longest = *std::max_element(
      use.cores.begin(), use.cores.end(), [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  j["kernel"] = task.kernel.kernel;
  j["launch_us"] = launch.launch_us;
  j["cycles"] = longest.cycles;
  j["bound_by"] = profile::name(verdict.bound);
  j["bound_share"] = verdict.share;
  j["advice"] = verdict.advice;
  j["longest_core"] = {{"pipes", pipes_json(longest)},
                       {"copy", longest.copy},
                       {"compute", longest.compute},
                       {"copy_beside_compute", longest.both}};
  j["gm_read"] = simulated.stats.gm_read;
  j["gm_written"] = simulated.stats.gm_written;
  if (simulated.from_data) j["cycles_of"] = "a run on seeded data";
  return j;
}

std::string bound_text(const runtime::TaskSimulation& simulated, const LaunchProfile& launch) {
  if (launch.cores.empty()) return simulated.engine;
  return std::string(profile::name(profile::judge(profile::use_of(launch)).bound));
}

std::string profile_json(const ProfileReport& report, const std::vector<LaunchProfile>& launches) {
  const plan::Plan& plan = report.prepared.plan;
  json tasks = json::array();
  std::map<std::string, double> by_bound;
  for (std::size_t t = 0; t < launches.size(); ++t) {
    const runtime::TaskSimulation& simulated = report.simulation.tasks[t];
    tasks.push_back(task_json(plan.tasks[t], simulated, launches[t]));
    by_bound[bound_text(simulated, launches[t])] += simulated.us;
  }
  const json all = {{"schema_version", 1},
                    {"kind", "profile"},
                    {"model", plan.model_name},
                    {"soc_version", plan.soc_version},
                    {"us", report.simulation.us},
                    {"by_bound", by_bound},
                    {"tasks", tasks}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

template <class Write>
Status write_text(const std::filesystem::path& path, Write write) {
  std::ostringstream out;
  write(out);
  return write_file(path, out.str());
}

}  // namespace

Status write_profile(const ProfileReport& report, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Status::error(
        "E13001", "cannot create the folder '" + folder.string() + "' of --profile: " + error.message());
  const std::vector<LaunchProfile> launches = launches_of(report);
  ATC_TRY(write_text(folder / "op_summary.csv", [&](std::ostream& out) {
    write_op_summary(out, report.prepared, report.simulation, launches);
  }));
  ATC_TRY(write_text(folder / "op_statistic.csv", [&](std::ostream& out) {
    write_op_statistic(out, report.prepared, report.simulation);
  }));
  ATC_TRY(write_text(folder / "task_time.csv",
                     [&](std::ostream& out) { write_task_time(out, report.prepared, report.simulation); }));
  ATC_TRY(write_text(folder / "PipeUtilization.csv",
                     [&](std::ostream& out) { profile::write_pipe_table(out, launches); }));
  ATC_TRY(write_text(folder / "trace.json",
                     [&](std::ostream& out) { profile::write_trace_json(out, launches); }));
  return write_file(folder / "profile.json", profile_json(report, launches));
}

std::string profile_table(const ProfileReport& report, std::size_t most) {
  const std::vector<LaunchProfile> launches = launches_of(report);
  const double all = report.simulation.us;
  const auto line = [&](double us, const std::string& what) {
    char figures[64];
    std::snprintf(figures, sizeof figures, "%12.2f us %5.1f %%  ", us, all > 0 ? 100 * us / all : 0.0);
    return figures + what + "\n";
  };
  std::map<std::string, double> by_bound;
  std::vector<std::size_t> order(launches.size());
  for (std::size_t t = 0; t < order.size(); ++t) {
    order[t] = t;
    by_bound[bound_text(report.simulation.tasks[t], launches[t])] += launches[t].us;
  }
  std::string out = "what bounds the tasks\n";
  for (const auto& [bound, us] : by_bound) out += line(us, bound);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return launches[a].us > launches[b].us; });
  order.resize(std::min(order.size(), most));
  out += "longest tasks, and what to try\n";
  std::set<std::pair<std::string, std::string>> told;  // operators of one type and bound have one advice
  for (const std::size_t t : order) {
    const LaunchProfile& launch = launches[t];
    const std::string bound = bound_text(report.simulation.tasks[t], launch);
    out += line(launch.us, printable(launch.name) + " (" + printable(launch.type) + "): " + bound);
    if (launch.cores.empty() || !told.insert({launch.type, bound}).second) continue;
    for (const std::string& advice : profile::judge(profile::use_of(launch)).advice)
      out += std::string(25, ' ') + advice + "\n";
  }
  return out;
}

}  // namespace atc::report
