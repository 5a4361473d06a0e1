#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "atc/ir/graph.h"
#include "plan/plan.h"

namespace atc::report {

/// What a task saves against running each of its ONNX nodes as a task of its own.
struct Saved {
  int tasks = 0;
  std::int64_t bytes_written = 0;  ///< of intermediates that no longer go to Global Memory
  std::int64_t bytes_read = 0;     ///< back from there, once for each reader
};

/// The model's nodes before any fusion, to compare the tasks with: who made what for whom. Reshape, Squeeze,
/// Unsqueeze, Flatten and Identity are views: they launch nothing, and who reads one reads what it views.
class SourceGraph {
 public:
  /// `canonical`: the graph after the canonical passes, with every type known.
  explicit SourceGraph(const ir::Graph& canonical);

  /// For each task. A node that several tasks cover counts for the first; a value is saved where one task
  /// covers its maker and a reader. `narrow`: the mode stores fp32 values in two bytes.
  std::vector<Saved> saved_by(const std::vector<plan::PlanTask>& tasks, bool narrow) const;

 private:
  struct Stored {
    int maker = 0;
    std::int64_t bytes = 0, narrow_bytes = 0;
    std::vector<int> readers;
    bool leaves = false;  // also read where no task is: by a nested graph or the model's caller
  };
  std::vector<bool> launches_;
  std::unordered_map<std::string, std::vector<int>> nodes_of_;  // by source
  std::vector<Stored> stored_;
};

}  // namespace atc::report
