#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "passes/pass.h"
#include "plan/plan.h"

namespace atc::report {

/// What two versions of a compiled model are compared by, from an .om or from a report on one. A report has
/// less than an .om: what it does not tell is absent.
struct Snapshot {
  struct Task {
    std::string name, op_type, engine;
    std::vector<std::string> sources;  ///< ONNX nodes
  };
  std::string model, soc_version;
  std::optional<std::vector<Task>> tasks;
  std::optional<std::int64_t> arena_bytes, weight_bytes;
  std::optional<double> us;                                        ///< modelled time of a run
  std::optional<std::map<std::string, int, std::less<>>> fusions;  ///< effects by name
};

Snapshot snapshot_of(const plan::Plan& plan);

/// A compilation report (--report) or a fusion_result.json. E10041 when the text is neither.
StatusOr<Snapshot> read_report(std::string_view json);

}  // namespace atc::report
