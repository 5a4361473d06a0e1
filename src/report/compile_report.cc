#include "report/compile_report.h"

#include <nlohmann/json.hpp>

#include "atc/base/file.h"
#include "report/engine_name.h"
#include "report/memory_report.h"
#include "soc/chip.h"

namespace atc::report {
namespace {

using nlohmann::json;

// fp32 on the cube of a chip whose cube takes fp16 at most: at a quarter of the fp16 rate, here only.
bool is_cube_extension(const plan::PlanTask& t, const soc::Chip& chip) {
  const kernels::KernelDef* def = kernels::find_kernel(t.kernel.kernel);
  return !chip.cube_f32 && def != nullptr && def->cube && !t.kernel.operands.empty() &&
         t.kernel.operands[0].dtype == DType::F32;
}

json task_json(const plan::PlanTask& t, const soc::Chip& chip) {
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
    if (is_cube_extension(t, chip)) j["cube_f32"] = "extension";
  }
  return j;
}

json fusions_json(const passes::FusionCounts::Map& map) {
  json out = json::object();
  for (const auto& [name, count] : map)
    out[name] = {{"match_times", count.match_times}, {"effect_times", count.effect_times}};
  return out;
}

json precision_json(const passes::PrecisionRecord& record) {
  json changes = json::array();
  for (const passes::PrecisionChange& c : record.changes)
    changes.push_back(
        {{"change", c.kind == passes::PrecisionChange::Kind::KeptF32 ? "kept fp32" : "clipped to fp16"},
         {"value", c.value},
         {"op_type", c.op_type},
         {"sources", c.sources},
         {"reason", c.reason}});
  return {{"changes", std::move(changes)},
          {"narrowed_values", record.narrowed_values},
          {"narrowed_constants", record.narrowed_constants},
          {"casts", record.casts}};
}

}  // namespace

std::string_view engine_name(plan::Engine e) {
  switch (e) {
    case plan::Engine::AiCore:
      return "AiCore";
    case plan::Engine::AiCpu:
      return "AiCpu";
    case plan::Engine::Region:
      return "Region";
  }
  return "";
}

Status write_compile_report(const plan::Plan& plan, const passes::PassContext& context,
                            const std::filesystem::path& path) {
  ATC_ASSIGN(const soc::Chip* chip, soc::find_chip(plan.soc_version));
  json root;
  root["schema_version"] = 1;
  root["model"] = plan.model_name;
  root["soc_version"] = plan.soc_version;
  for (const auto& [key, value] : plan.info) root["info"][key] = value;
  json tasks = json::array(), counts = {{"AiCore", 0}, {"AiCpu", 0}}, macs = {{"AiCore", 0}, {"AiCpu", 0}};
  for (const plan::PlanTask& t : plan.tasks) {
    tasks.push_back(task_json(t, *chip));
    const std::string engine(engine_name(t.engine));
    counts[engine] = counts.value(engine, std::int64_t{0}) + 1;
    macs[engine] = macs.value(engine, std::int64_t{0}) + t.kernel.macs;
  }
  root["totals"] = {{"tasks", counts},
                    {"macs", macs},
                    {"arena_bytes", plan.arena_bytes},
                    {"weight_bytes", plan.weight_bytes}};
  root["tasks"] = std::move(tasks);
  root["fusions"] = {{"graph_fusion", fusions_json(context.fusions.graph_fusion())},
                     {"ub_fusion", fusions_json(context.fusions.ub_fusion())}};
  root["precision"] = precision_json(context.precision);
  root["memory"] = memory_json(plan);
  return write_file(path, root.dump(2) + "\n");
}

}  // namespace atc::report
