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

Status write_fusion_result(const std::vector<GraphFusions>& graphs, const std::filesystem::path& path) {
  nlohmann::json root;
  for (const GraphFusions& g : graphs) {
    nlohmann::json graph;
    if (!g.counts.graph_fusion().empty()) graph["graph_fusion"] = counters(g.counts.graph_fusion(), false);
    if (!g.counts.ub_fusion().empty()) graph["ub_fusion"] = counters(g.counts.ub_fusion(), true);
    if (!graph.is_null())
      root["session_and_graph_id_" + std::to_string(g.session) + "_" + std::to_string(g.graph)] =
          std::move(graph);
  }
  if (root.is_null()) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return {};
  }
  return write_file(path, root.dump(4) + "\n");
}

}  // namespace atc::report
