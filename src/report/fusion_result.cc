#include "report/fusion_result.h"

#include <nlohmann/json.hpp>
#include <system_error>

#include "atc/base/file.h"

namespace atc::report {
namespace {

nlohmann::json counters(const passes::FusionCounts::Map& map, bool ub) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, count] : map) {
    nlohmann::json& c = out[name];
    c["match_times"] = std::to_string(count.match_times);
    c["effect_times"] = std::to_string(count.effect_times);
    if (ub) c["repository_hit_times"] = "0";
  }
  return out;
}

}  // namespace

Status write_fusion_result(const passes::FusionCounts& fusions, const std::filesystem::path& path) {
  nlohmann::json graph;
  if (!fusions.graph_fusion().empty()) graph["graph_fusion"] = counters(fusions.graph_fusion(), false);
  if (!fusions.ub_fusion().empty()) graph["ub_fusion"] = counters(fusions.ub_fusion(), true);
  if (graph.is_null()) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return {};
  }
  nlohmann::json root;
  root["session_and_graph_id_0_0"] = std::move(graph);
  return write_file(path, root.dump(4) + "\n");
}

}  // namespace atc::report
