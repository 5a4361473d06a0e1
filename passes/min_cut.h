#pragma once

#include <cstdint>
#include <vector>

namespace atc::passes {

/// Minimum s-t cut of a directed graph with non-negative capacities (Dinic's algorithm: level graphs and
/// blocking flows, without recursion). Deterministic.
class MinCut {
 public:
  /// Far above the sum of all finite capacities that a caller may use.
  static constexpr std::int64_t kInfinite = std::int64_t{1} << 60;

  int add_node();
  /// An edge of capacity `forward` from a to b and of `backward` from b to a.
  void add_edge(int a, int b, std::int64_t forward, std::int64_t backward = 0);

  /// Nodes on the source's side of the minimum cut whose source side is smallest: what the source still
  /// reaches when no more can flow.
  std::vector<bool> source_side(int source, int sink);

 private:
  struct Edge {
    int to;
    std::int64_t capacity;
  };
  bool find_levels(int source, int sink);
  void block(int source, int sink);

  std::vector<Edge> edges_;             // edge e and its reverse e ^ 1
  std::vector<std::vector<int>> from_;  // edges that leave each node
  std::vector<int> level_;
  std::vector<std::size_t> next_;  // the edge to try next, for each node
};

}  // namespace atc::passes
