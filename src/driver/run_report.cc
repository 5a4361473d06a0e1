#include "driver/run_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "atc/base/strings.h"

namespace atc::driver {
namespace {

using nlohmann::json;

struct Wall {
  double min = 0, median = 0, max = 0;
};

Wall wall_of(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  const std::size_t n = ms.size();
  return {ms.front(), (ms[(n - 1) / 2] + ms[n / 2]) / 2, ms.back()};
}

double samples_per_s(const RunReport& r) {
  return r.simulation.us > 0 ? static_cast<double>(r.batch) * 1e6 / r.simulation.us : 0;
}

/// JSON has no NaN or Inf: they become null.
json number(double v) { return std::isfinite(v) ? json(v) : json(); }

json port_json(const PortReport& port) {
  json j = {
      {"name", port.spec.name}, {"dtype", std::string(name(port.spec.dtype))}, {"shape", port.spec.shape}};
  j["file"] = port.file.empty() ? json() : json(port.file);
  j["min"] = port.range ? number(port.range->min) : json();
  j["max"] = port.range ? number(port.range->max) : json();
  j["mean"] = port.range ? number(port.range->mean) : json();
  return j;
}

std::string format(const char* pattern, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

std::string port_line(const char* label, const PortReport& port, const std::string& file) {
  std::string out = format("%-11s", label) + printable(port.spec.name) + "  " +
                    std::string(name(port.spec.dtype)) + "[" + to_string(port.spec.shape) + "]";
  if (port.range)
    out += format("  min %.6g max %.6g mean %.6g", port.range->min, port.range->max, port.range->mean);
  if (!file.empty()) out += "  " + file;
  return out + "\n";
}

}  // namespace

std::optional<PortReport::Range> range_of(const Tensor& tensor) {
  const bool plain = is_float(tensor.dtype) || is_integer(tensor.dtype) || tensor.dtype == DType::Bool;
  if (!plain || tensor.count() == 0) return std::nullopt;
  const std::vector<double> values = to_doubles(tensor);
  PortReport::Range range{values[0], values[0], 0};
  for (const double v : values) {
    // Comparisons that are false for NaN would hide it.
    range.min = v < range.min || std::isnan(v) ? v : range.min;
    range.max = v > range.max || std::isnan(v) ? v : range.max;
    range.mean += v;
  }
  range.mean /= static_cast<double>(values.size());
  return range;
}

std::string to_json(const RunReport& r) {
  json inputs = json::array(), outputs = json::array(), engines = json::object();
  for (const PortReport& port : r.inputs) inputs.push_back(port_json(port));
  for (const PortReport& port : r.outputs) outputs.push_back(port_json(port));
  for (const auto& [engine, total] : r.simulation.by_engine)
    engines[engine] = {{"tasks", total.tasks}, {"cycles", total.cycles}, {"us", total.us}};
  json tasks = json::array();
  for (std::size_t t = 0; t < r.simulation.tasks.size(); ++t) {
    const runtime::TaskSimulation& task = r.simulation.tasks[t];
    json busy = json::object();
    for (int p = 0; p < aicore::kPipeCount; ++p)
      if (const aicore::Cycle cycles = task.stats.busy[static_cast<std::size_t>(p)]; cycles > 0)
        busy[std::string(aicore::name(static_cast<aicore::Pipe>(p)))] = cycles;
    tasks.push_back({{"name", r.task_names[t]},
                     {"engine", task.engine},
                     {"us", task.us},
                     {"blocks", task.blocks},
                     {"tiles", task.tiles},
                     {"cycles", task.stats.cycles},
                     {"busy_cycles", busy},
                     {"gm_read", task.stats.gm_read},
                     {"gm_written", task.stats.gm_written}});
  }
  json wall;
  if (!r.wall_ms.empty()) {
    const Wall w = wall_of(r.wall_ms);
    wall = {{"min", w.min}, {"median", w.median}, {"max", w.max}, {"first", r.first_ms}};
  }
  json cpu;
  if (!r.cpu_ms.empty()) {
    const Wall w = wall_of(r.cpu_ms);
    cpu = {{"min", w.min}, {"median", w.median}, {"max", w.max}};
  }
  json all = {{"model", r.model},
              {"soc_version", r.soc_version},
              {"threads", r.threads},
              {"seed", r.seed},
              {"loops", r.wall_ms.size()},
              {"inputs", inputs},
              {"outputs", outputs},
              {"load_ms", r.load_ms},
              {"wall_ms", wall},
              {"cpu_ms", cpu},
              {"peak_rss_mb", r.peak_rss_mb},
              {"simulated",
               {{"cycles", r.simulation.cycles},
                {"us", r.simulation.us},
                {"samples_per_s", samples_per_s(r)},
                {"by_engine", engines},
                {"tasks", tasks}}},
              {"tasks", {{"ai_core", r.ai_core_tasks}, {"ai_cpu", r.ai_cpu_tasks}, {"regions", r.regions}}}};
  for (const RunReport::Custom& c : r.custom)
    all["custom"].push_back({{"task", c.task},
                             {"op", c.op},
                             {"cycles", c.cycles},
                             {"us", c.us},
                             {"cycles_of", "a run on seeded data"}});
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string to_table(const RunReport& r) {
  std::string out = format("%-11s", "model") + r.model + " for " + r.soc_version +
                    format(", loaded in %.1f ms\n", r.load_ms);
  out += format("%-11s%d on the AI Core, %d on the AI CPU", "tasks", r.ai_core_tasks, r.ai_cpu_tasks);
  // A model without data-dependent parts says nothing of them.
  if (r.regions > 0)
    out += format(", %d regions compiled when they run%s", r.regions,
                  r.wall_ms.empty() ? " (not simulated)" : "");
  out += "\n";
  for (const PortReport& port : r.inputs)
    out += port_line("input", port,
                     port.file.empty() ? "random, seed " + std::to_string(r.seed) : "from " + port.file);
  for (const PortReport& port : r.outputs)
    out += port_line("output", port, port.file.empty() ? "" : "to " + port.file);
  if (!r.wall_ms.empty()) {
    const Wall w = wall_of(r.wall_ms);
    out += format("%-11smin %.3f  median %.3f  max %.3f ms of %zu runs, %d threads\n", "wall time", w.min,
                  w.median, w.max, r.wall_ms.size(), r.threads);
  }
  out += format("%-11s%lld cycles, %.1f us, %.1f samples/s (modelled)\n", "simulated",
                static_cast<long long>(r.simulation.cycles), r.simulation.us, samples_per_s(r));
  for (const auto& [engine, total] : r.simulation.by_engine)
    out += format("%-11s%-7s %5d tasks %12.1f us %5.1f %%\n", "", engine.c_str(), total.tasks, total.us,
                  r.simulation.us > 0 ? 100 * total.us / r.simulation.us : 0.0);
  if (!r.custom.empty())
    out += format("%-11s%zu tasks of custom operators, timed by runs on seeded data\n", "", r.custom.size());
  out += format("%-11s%.0f MiB peak\n", "memory", r.peak_rss_mb);
  if (!r.profile.empty()) out += r.profile;
  return out;
}

}  // namespace atc::driver
