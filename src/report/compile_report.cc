#include "report/compile_report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "atc/base/file.h"
#include "kernels/plan_choice.h"
#include "profile/verdict.h"
#include "report/engine_name.h"
#include "report/html_report.h"
#include "report/memory_report.h"
#include "report/size_report.h"
#include "report/task_operands.h"
#include "report/task_profile.h"
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

json tiling_json(const kernels::Task& task) {
  json out = json::object();
  const kernels::KernelDef* def = kernels::find_kernel(task.kernel);
  if (def != nullptr && def->describe != nullptr)
    for (const kernels::TilingField& field : def->describe(task)) out[std::string(field.name)] = field.value;
  return out;
}

/// Each operand once; what reads only rows of a table need not read the rest.
std::int64_t compulsory_bytes(const kernels::Task& task, const aicore::Stats& stats) {
  std::int64_t bytes = 0;
  for (const kernels::Operand& o : task.operands) bytes += o.bytes;
  return std::min(bytes, stats.gm_read + stats.gm_written);
}

void add_time(json& j, const plan::PlanTask& t, const runtime::TaskSimulation& simulated,
              const soc::Chip& chip) {
  if (t.engine != plan::Engine::AiCore && t.engine != plan::Engine::AiCpu) return;
  j["us"] = simulated.us;
  if (t.engine != plan::Engine::AiCore) return;
  const profile::Verdict verdict = profile::judge(profile::use_of(profile_of(t, simulated, chip, 0)));
  j["bound_by"] = profile::name(verdict.bound);
  j["bound_share"] = verdict.share;
}

/// A task's tiles come from the bank.
bool is_tuned(const plan::PlanTask& t, const soc::Chip& chip, const kernels::PlanBank* bank) {
  if (bank == nullptr || t.engine != plan::Engine::AiCore) return false;
  const auto key = kernels::plan_key(t.kernel, chip);
  return key && bank->taken(*key);
}

/// Storage formats of what a task reads (or writes when `outputs`), operand by operand.
json formats_json(const plan::Plan& plan, const plan::PlanTask& t, bool outputs) {
  json out = json::array();
  for (const int tensor : tensors_of(t, outputs))
    out.push_back(ir::name(plan.tensors.at(static_cast<std::size_t>(tensor)).format));
  return out;
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
    j["tiling"] = tiling_json(t.kernel);
    if (is_cube_extension(t, chip)) j["cube_f32"] = "extension";
  }
  if (t.engine == plan::Engine::Custom) {
    j["kernel"] = t.kernel.kernel;
    j["blocks"] = t.kernel.blocks();
    j["library"] = t.custom.library;
    j["tiling_key"] = t.custom.tiling.tiling_key;
    j["workspace_bytes"] = t.custom.tiling.workspace_bytes;
  }
  return j;
}

json fusions_json(const passes::FusionCounts::Map& map) {
  json out = json::object();
  for (const auto& [name, count] : map)
    out[name] = {{"match_times", count.match_times}, {"effect_times", count.effect_times}};
  return out;
}

/// The formations that a task came from: those whose nodes it covers.
class FormedBy {
 public:
  explicit FormedBy(const std::vector<passes::Formation>& formations) : formations_(formations) {
    for (std::size_t i = 0; i < formations.size(); ++i)
      by_source_[formations[i].sources.front()].push_back(i);
  }

  /// In the order in which the passes ran; of each pass the last.
  json of(const plan::PlanTask& t) const {
    const std::set<std::string> covered(t.sources.begin(), t.sources.end());
    std::map<std::string, std::size_t> last;
    for (const std::string& source : covered) {
      const auto found = by_source_.find(source);
      if (found == by_source_.end()) continue;
      for (const std::size_t i : found->second) {
        const passes::Formation& f = formations_[i];
        if (!std::includes(covered.begin(), covered.end(), f.sources.begin(), f.sources.end())) continue;
        std::size_t& known = last.try_emplace(f.pass, i).first->second;
        known = std::max(known, i);
      }
    }
    std::set<std::size_t> in_order;
    for (const auto& [pass, i] : last) in_order.insert(i);
    json out = json::array();
    for (const std::size_t i : in_order)
      out.push_back({{"pass", formations_[i].pass},
                     {"fusion", formations_[i].fusion},
                     {"nodes", formations_[i].sources.size()}});
    return out;
  }

 private:
  const std::vector<passes::Formation>& formations_;
  std::map<std::string, std::vector<std::size_t>> by_source_;
};

json near_misses_json(const std::vector<passes::NearMiss>& misses) {
  json out = json::array();
  for (const passes::NearMiss& m : misses)
    out.push_back({{"fusion", m.fusion},
                   {"node", m.node},
                   {"op_type", m.op_type},
                   {"sources", m.sources},
                   {"reason", m.reason}});
  return out;
}

json saved_json(const Saved& saved) {
  return {{"tasks", saved.tasks}, {"bytes_written", saved.bytes_written}, {"bytes_read", saved.bytes_read}};
}

bool stores_narrow(passes::Precision p) {
  return p == passes::Precision::Fp16 || p == passes::Precision::MixedFloat16 ||
         p == passes::Precision::MixedBfloat16;
}

std::string_view name_of(passes::PrecisionChange::Kind kind) {
  switch (kind) {
    case passes::PrecisionChange::Kind::KeptF32:
      return "kept fp32";
    case passes::PrecisionChange::Kind::Clipped:
      return "clipped to fp16";
    case passes::PrecisionChange::Kind::Asked:
      return "as asked for";
    case passes::PrecisionChange::Kind::Faster:
      return "faster form";
  }
  return "";
}

json precision_json(const passes::PrecisionRecord& record) {
  json changes = json::array();
  for (const passes::PrecisionChange& c : record.changes)
    changes.push_back({{"change", name_of(c.kind)},
                       {"value", c.value},
                       {"op_type", c.op_type},
                       {"sources", c.sources},
                       {"reason", c.reason}});
  return {{"changes", std::move(changes)},
          {"narrowed_values", record.narrowed_values},
          {"narrowed_constants", record.narrowed_constants},
          {"casts", record.casts}};
}

json custom_json(const plan::Plan& plan, const std::vector<passes::CustomTaken>& custom) {
  json libraries = json::array(), nodes = json::array();
  for (const plan::PlanLibrary& l : plan.libraries)
    libraries.push_back(
        {{"name", l.name}, {"sha256", l.sha256}, {"bytes", l.bytes.size()}, {"embedded", !l.bytes.empty()}});
  for (const passes::CustomTaken& t : custom) {
    json node = {{"op", t.op}, {"library", t.library}, {"node", t.node}, {"sources", t.sources}};
    if (!t.pattern.empty()) node["pattern"] = t.pattern;
    nodes.push_back(std::move(node));
  }
  return {{"libraries", std::move(libraries)}, {"nodes", std::move(nodes)}};
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
    case plan::Engine::Custom:
      return "Custom";
  }
  return "";
}

Status write_compile_report(const CompileReport& report, const std::filesystem::path& path) {
  const plan::Plan& plan = report.plan;
  const passes::PassContext& context = report.context;
  ATC_ASSIGN(const soc::Chip* chip, soc::find_chip(plan.soc_version));
  const FormedBy formed(report.formations);
  const std::vector<Saved> saved =
      report.sources.saved_by(plan.tasks, stores_narrow(context.options.precision));
  json root;
  root["schema_version"] = 1;
  root["model"] = plan.model_name;
  root["soc_version"] = plan.soc_version;
  for (const auto& [key, value] : plan.info) root["info"][key] = value;
  json tasks = json::array(), counts = {{"AiCore", 0}, {"AiCpu", 0}}, macs = {{"AiCore", 0}, {"AiCpu", 0}};
  Saved total;
  std::int64_t moved = 0, compulsory = 0;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const plan::PlanTask& t = plan.tasks[i];
    json& j = tasks.emplace_back(task_json(t, *chip));
    if (is_tuned(t, *chip, report.bank)) j["tuned"] = true;
    j["input_formats"] = formats_json(plan, t, false);
    j["output_formats"] = formats_json(plan, t, true);
    j["formed_by"] = formed.of(t);
    j["saved"] = saved_json(saved[i]);
    add_time(j, t, report.simulation.tasks[i], *chip);
    const aicore::Stats& stats = report.simulation.tasks[i].stats;
    moved += stats.gm_read + stats.gm_written;
    if (t.engine == plan::Engine::AiCore) compulsory += compulsory_bytes(t.kernel, stats);
    total.tasks += saved[i].tasks;
    total.bytes_written += saved[i].bytes_written;
    total.bytes_read += saved[i].bytes_read;
    const std::string engine(engine_name(t.engine));
    counts[engine] = counts.value(engine, std::int64_t{0}) + 1;
    macs[engine] = macs.value(engine, std::int64_t{0}) + t.kernel.macs;
  }
  root["totals"] = {{"tasks", counts},
                    {"macs", macs},
                    {"arena_bytes", plan.arena_bytes},
                    {"weight_bytes", plan.weight_bytes},
                    {"us", report.simulation.us},
                    {"gm_bytes", moved},
                    {"compulsory_bytes", compulsory},
                    {"saved", saved_json(total)}};
  root["tasks"] = std::move(tasks);
  root["fusions"] = {{"graph_fusion", fusions_json(context.fusions.graph_fusion())},
                     {"ub_fusion", fusions_json(context.fusions.ub_fusion())}};
  root["near_misses"] = near_misses_json(context.near_misses);
  root["precision"] = precision_json(context.precision);
  if (!report.custom.empty()) root["custom_operators"] = custom_json(plan, report.custom);
  root["memory"] = memory_json(plan);
  root["size"] = size_json(plan, report.image);
  const std::string text = root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  return write_file(path, path.extension() == ".html" ? html_report(text) : text);
}

}  // namespace atc::report
