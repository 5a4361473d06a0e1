#pragma once

#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Keeps what nothing reads, for --oo_dead_code_elimination=false: while it is attached the results of such
/// nodes stand behind the graph's own outputs, so that all passes leave what makes them, and its tasks run.
/// In nested graphs dead code goes, and so does what --out_nodes cuts off.
class KeptDeadCode {
 public:
  /// Finds the unread nodes of a graph as it is imported.
  explicit KeptDeadCode(const ir::Graph& graph);

  void attach(ir::Graph& graph);
  /// The graph has its own outputs again. Precondition: it is attached.
  void detach(ir::Graph& graph);
  /// Values behind the graph's own outputs while it is attached.
  std::size_t count() const { return values_.size(); }

 private:
  std::vector<ir::Value*> values_;
};

}  // namespace atc::passes
