#include "report/compile_report.h"

#include <nlohmann/json.hpp>

#include "atc/base/file.h"

namespace atc::report {
namespace {

using nlohmann::json;

std::string_view engine_name(plan::Engine e) { return e == plan::Engine::AiCore ? "AiCore" : "AiCpu"; }

json task_json(const plan::PlanTask& t) {
  json j;
  j["name"] = t.name;
  j["op_type"] = t.op_type;
  j["engine"] = engine_name(t.engine);
  j["sources"] = t.sources;
  j["macs"] = t.kernel.macs;
  if (t.engine == plan::Engine::AiCore) {
    j["kernel"] = t.kernel.kernel;
    j["blocks"] = t.kernel.blocks();
    j["tiles"] = t.kernel.block_tiles.back() - t.kernel.block_tiles.front();
  }
  return j;
}

json fusions_json(const passes::FusionCounts::Map& map) {
  json out = json::object();
  for (const auto& [name, count] : map)
    out[name] = {{"match_times", count.match_times}, {"effect_times", count.effect_times}};
  return out;
}

}  // namespace

Status write_compile_report(const plan::Plan& plan, const passes::FusionCounts& fusions,
                            const std::filesystem::path& path) {
  json root;
  root["schema_version"] = 1;
  root["model"] = plan.model_name;
  root["soc_version"] = plan.soc_version;
  for (const auto& [key, value] : plan.info) root["info"][key] = value;
  json tasks = json::array(), counts = {{"AiCore", 0}, {"AiCpu", 0}}, macs = {{"AiCore", 0}, {"AiCpu", 0}};
  for (const plan::PlanTask& t : plan.tasks) {
    tasks.push_back(task_json(t));
    const std::string engine(engine_name(t.engine));
    counts[engine] = counts[engine].get<std::int64_t>() + 1;
    macs[engine] = macs[engine].get<std::int64_t>() + t.kernel.macs;
  }
  root["totals"] = {{"tasks", counts},
                    {"macs", macs},
                    {"arena_bytes", plan.arena_bytes},
                    {"weight_bytes", plan.weight_bytes}};
  root["tasks"] = std::move(tasks);
  root["fusions"] = {{"graph_fusion", fusions_json(fusions.graph_fusion())},
                     {"ub_fusion", fusions_json(fusions.ub_fusion())}};
  return write_file(path, root.dump(2) + "\n");
}

}  // namespace atc::report
