#pragma once

#include <filesystem>

#include "atc/base/status.h"
#include "passes/pass.h"

namespace atc::report {

/// fusion_result.json as ATC writes it: under "session_and_graph_id_0_0", "graph_fusion" and "ub_fusion" with
/// counters as strings, keys sorted, indent 4. Passes that matched nothing are left out; without any there
/// is no file, and one from an earlier run is removed.
Status write_fusion_result(const passes::FusionCounts& fusions, const std::filesystem::path& path);

}  // namespace atc::report
