#include "passes/min_cut.h"

#include <algorithm>

namespace atc::passes {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

int MinCut::add_node() {
  from_.emplace_back();
  return static_cast<int>(from_.size()) - 1;
}

void MinCut::add_edge(int a, int b, std::int64_t forward, std::int64_t backward) {
  const int e = static_cast<int>(edges_.size());
  edges_.push_back({b, forward});
  edges_.push_back({a, backward});
  from_[at(a)].push_back(e);
  from_[at(b)].push_back(e + 1);
}

bool MinCut::find_levels(int source, int sink) {
  level_.assign(from_.size(), -1);
  level_[at(source)] = 0;
  std::vector<int> queue = {source};
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (int e : from_[at(queue[head])]) {
      const Edge& edge = edges_[at(e)];
      if (edge.capacity == 0 || level_[at(edge.to)] >= 0) continue;
      level_[at(edge.to)] = level_[at(queue[head])] + 1;
      queue.push_back(edge.to);
    }
  return level_[at(sink)] >= 0;
}

// Flows along shortest paths until each has a full edge; a path is kept as the list of its edges.
void MinCut::block(int source, int sink) {
  next_.assign(from_.size(), 0);
  std::vector<int> path;
  for (;;) {
    const int node = path.empty() ? source : edges_[at(path.back())].to;
    if (node == sink) {
      std::int64_t flow = kInfinite;
      for (int e : path) flow = std::min(flow, edges_[at(e)].capacity);
      std::size_t first_full = path.size();
      for (std::size_t i = path.size(); i-- > 0;) {
        edges_[at(path[i])].capacity -= flow;
        edges_[at(path[i] ^ 1)].capacity += flow;
        if (edges_[at(path[i])].capacity == 0) first_full = i;
      }
      path.resize(first_full);
      continue;
    }
    std::size_t& next = next_[at(node)];
    const std::vector<int>& edges = from_[at(node)];
    const auto leads_on = [&](int e) {
      return edges_[at(e)].capacity > 0 && level_[at(edges_[at(e)].to)] == level_[at(node)] + 1;
    };
    while (next < edges.size() && !leads_on(edges[next])) ++next;
    if (next < edges.size()) {
      path.push_back(edges[next]);
      continue;
    }
    if (path.empty()) return;
    // A dead end: the edge that led here is passed over.
    const int back = edges_[at(path.back() ^ 1)].to;
    path.pop_back();
    ++next_[at(back)];
  }
}

std::vector<bool> MinCut::source_side(int source, int sink) {
  while (find_levels(source, sink)) block(source, sink);
  std::vector<bool> side(from_.size());
  for (std::size_t i = 0; i < side.size(); ++i) side[i] = level_[i] >= 0;
  return side;
}

}  // namespace atc::passes
