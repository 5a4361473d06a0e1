#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/pass.h"

namespace atc::passes {

/// A pass made one node of what several source nodes stood for.
struct Formation {
  std::string pass;                  ///< ours: "attention-fusion"
  std::string fusion;                ///< ATC's name; "" where it has none
  std::vector<std::string> sources;  ///< ONNX nodes, sorted
};

/// Finds formations by looking at the main graph before and after each pass, so that no pass has to tell.
class FusionTrace {
 public:
  void start(const ir::Graph& graph);
  /// The pass has changed the graph.
  void after(const Pass& pass, const ir::Graph& graph);
  const std::vector<Formation>& formations() const { return formations_; }

 private:
  void remember(const ir::Graph& graph);
  std::unordered_map<int, std::size_t> sources_of_;  // by node id: how many there were
  std::unordered_set<std::string> groups_;           // sources that one node stood for
  std::vector<Formation> formations_;
};

}  // namespace atc::passes
