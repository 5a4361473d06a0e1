#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "passes/pass.h"

namespace atc::report {

/// The fusions of one graph that was compiled: of the model, or of one part of it.
struct GraphFusions {
  int session = 0, graph = 0;
  passes::FusionCounts counts;
};

/// fusion_result.json in ATC's form: for each graph an object "session_and_graph_id_<session>_<graph>" with
/// graph_fusion and ub_fusion, counts as decimal strings, keys sorted, indent 4. A graph without any match is
/// left out; without any graph there is no file, and an older one goes.
Status write_fusion_result(const std::vector<GraphFusions>& graphs, const std::filesystem::path& path);

}  // namespace atc::report
