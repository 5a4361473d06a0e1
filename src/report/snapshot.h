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
    std::vector<std::string> sources;    ///< ONNX nodes
    std::vector<std::string> formed_by;  ///< passes that made it of several nodes; of a report only
    std::optional<double> us = {};       ///< modelled time
    std::string bound_by = {};           ///< what limits it; not of an .om
  };
  /// Something that a report says of some nodes: a fusion that failed, a value that stays wide.
  struct Remark {
    std::string what;  ///< the fusion, or the change
    std::string where;
    std::string reason;
    friend auto operator<=>(const Remark&, const Remark&) = default;
  };
  std::string model, soc_version;
  std::optional<std::vector<Task>> tasks;
  std::optional<std::int64_t> arena_bytes, weight_bytes;
  std::optional<std::uint64_t> weight_contents;                    ///< a digest; of an .om only
  std::optional<std::int64_t> file_bytes;                          ///< of the .om
  std::optional<std::int64_t> saved_bytes;                         ///< that fusion keeps out of Global Memory
  std::optional<double> us;                                        ///< modelled time of a run
  std::optional<std::map<std::string, int, std::less<>>> fusions;  ///< effects by name
  std::optional<std::vector<Remark>> near_misses, precision;       ///< sorted
};

Snapshot snapshot_of(const plan::Plan& plan);

/// A compilation report (--report), a fusion_result.json of any version of ATC's (one object with a key for
/// each graph, or one object a graph, one after the other), what `omrun --json` prints, or the profile.json
/// of `omrun --profile`. E10041 when the text is none of them.
StatusOr<Snapshot> read_report(std::string_view json);

}  // namespace atc::report
