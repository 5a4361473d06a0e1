#include "custom/run_kernel.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "ascendc/launch.h"
#include "custom/chip_info.h"
#include "custom/tracked_kernel.h"

namespace atc::custom {
namespace {

/// More errors than these say nothing new.
constexpr std::size_t kShownErrors = 12;

/// What a checked run finds in its outputs: not a number in every float type.
constexpr std::byte kUnwritten{0xff};

/// Whether an operator works in place.
bool is_input_too(const Launch& launch, const LaunchArg& output) {
  return std::any_of(launch.args.begin(), launch.args.end(), [&](const LaunchArg& a) {
    return !a.output && a.address != 0 &&
           a.address < output.address + static_cast<std::uint64_t>(output.bytes) &&
           output.address < a.address + static_cast<std::uint64_t>(a.bytes);
  });
}

ascendc::Launch make_launch(AtcKernel kernel, const Launch& launch, std::string& tiling,
                            const soc::Chip& chip) {
  ascendc::Launch out;
  out.kernel = tracked(kernel);
  out.block_dim = static_cast<int>(launch.tiling.block_dim);
  out.tiling_key = launch.tiling.tiling_key;
  // Vector cores are what tiling says by default: then the kernel's own declaration counts.
  if (launch.tiling.kernel_type != ATC_KERNEL_AIV_ONLY)
    out.type = static_cast<int>(launch.tiling.kernel_type);
  for (const LaunchArg& arg : launch.args) {
    auto* data = reinterpret_cast<std::byte*>(arg.address);
    out.args.push_back(data);
    if (data == nullptr) continue;
    const bool scratch = &arg == &launch.args.back();
    ascendc::GmRange& range = out.memory.emplace_back();
    range.data = data;
    range.bytes = arg.bytes;
    range.name = scratch ? "the workspace" : (arg.output ? "output '" : "input '") + arg.name + "'";
    if (launch.checks && arg.output && !scratch && !is_input_too(launch, arg)) {
      range.output = true;
      range.fill = kUnwritten;
      std::fill(data, data + arg.bytes, kUnwritten);
    }
    if (!scratch || arg.bytes < static_cast<std::int64_t>(system_workspace(chip))) continue;
    out.system_workspace = data;
    out.system_workspace_bytes = static_cast<std::int64_t>(system_workspace(chip));
  }
  out.args.push_back(tiling.data());
  out.memory.push_back({reinterpret_cast<std::byte*>(tiling.data()), static_cast<std::int64_t>(tiling.size()),
                        "the tiling data"});
  out.checks = launch.checks;
  out.timing = launch.timing;
  out.trace = launch.trace;
  return out;
}

Status fault_of(const ascendc::Outcome& outcome) {
  std::size_t errors = 0;
  for (const ascendc::Diagnostic& d : outcome.diagnostics) errors += d.error ? 1 : 0;
  Status status = Status::error("E40021", ascendc::to_string(outcome.diagnostics.front()));
  for (std::size_t i = 1; i < std::min(errors, kShownErrors); ++i)
    status = std::move(status).note(ascendc::to_string(outcome.diagnostics[i]));
  if (errors > kShownErrors)
    status = std::move(status).note("and " + std::to_string(errors - kShownErrors) + " more errors");
  return status;
}

void add_cores(const ascendc::Outcome& outcome, LaunchStats& stats) {
  std::map<std::string_view, std::uint32_t> names;
  for (const ascendc::CoreRun& run : outcome.cores) {
    LaunchCore& core = stats.cores.emplace_back();
    core.name = run.name;
    core.begin = run.begin;
    core.cycles = run.stats.cycles;
    for (const aicore::TraceEvent& e : run.trace) {
      const auto [entry, fresh] = names.try_emplace(e.name, static_cast<std::uint32_t>(names.size()));
      if (fresh) stats.event_names.emplace_back(e.name);
      core.events.push_back({static_cast<std::uint8_t>(e.pipe), entry->second, e.start, e.end, e.bytes});
    }
  }
}

}  // namespace

StatusOr<LaunchStats> run_kernel(AtcKernel kernel, const Launch& launch, ThreadPool& pool) {
  ATC_ASSIGN(const soc::Chip* chip, soc::find_chip(launch.soc_version));
  std::string tiling = launch.tiling.data;
  const ascendc::Outcome outcome = ascendc::run(*chip, make_launch(kernel, launch, tiling, *chip), pool);
  if (!launch.quiet) std::fputs(outcome.printed.c_str(), stdout);
  if (!outcome.ok()) return fault_of(outcome);
  for (const ascendc::Diagnostic& d : outcome.diagnostics)
    std::fprintf(stderr, "%s\n", ascendc::to_string(d).c_str());
  LaunchStats stats;
  stats.cycles = outcome.stats.cycles;
  stats.gm_read = outcome.stats.gm_read;
  stats.gm_written = outcome.stats.gm_written;
  stats.instructions = outcome.stats.instructions;
  stats.busy.assign(outcome.stats.busy.begin(), outcome.stats.busy.end());
  if (launch.trace) add_cores(outcome, stats);
  return stats;
}

}  // namespace atc::custom
