#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/snapshot.h"

namespace atc::report {

/// A figure before and after; a side that does not tell it is absent.
struct Figure {
  std::optional<double> before, after;
  bool both() const { return before && after; }
  bool changed() const { return before != after; }
  /// (after - before) / before in per cent; of a growth from 0, infinity. Precondition: both().
  double increase_percent() const;
};

/// ONNX nodes that other tasks stand for now.
struct Regrouped {
  std::vector<Snapshot::Task> before, after;
};

/// A task that both sides have and that takes another time now, or is bound by something else.
struct Retimed {
  Snapshot::Task before, after;
};

/// What changed from one version of a compiled model to the next.
struct Diff {
  Figure tasks, us, arena_bytes, weight_bytes, file_bytes, saved_bytes;
  bool weights_differ = false;            ///< in contents, of as many bytes
  std::map<std::string, Figure> fusions;  ///< those whose count differs
  std::vector<Regrouped> regrouped;       ///< in the order of the tasks after
  std::vector<Retimed> retimed;           ///< the largest change of time first
  /// What one side alone remarks: fusions that failed on one condition, values with a precision of their own.
  struct Remarks {
    std::vector<Snapshot::Remark> gone, come;
    bool empty() const { return gone.empty() && come.empty(); }
  };
  Remarks near_misses, precision;
  bool empty() const;
};

/// Tasks are compared by the ONNX nodes that they stand for, not by name or place.
Diff compare(const Snapshot& before, const Snapshot& after);

std::string to_text(const Diff& diff);
/// For a merge request.
std::string to_markdown(const Diff& diff);
/// One object with sorted keys.
std::string to_json(const Diff& diff);

}  // namespace atc::report
