#include "passes/min_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace atc::passes {
namespace {

struct Arc {
  int from, to;
  std::int64_t capacity;
};

std::int64_t cost_of(const std::vector<Arc>& arcs, const std::vector<bool>& side) {
  std::int64_t cost = 0;
  for (const Arc& a : arcs)
    if (side[static_cast<std::size_t>(a.from)] && !side[static_cast<std::size_t>(a.to)]) cost += a.capacity;
  return cost;
}

// Every way to put the nodes beside source 0 and sink 1 on a side, of the cheapest the one with fewest nodes.
std::vector<bool> by_enumeration(int nodes, const std::vector<Arc>& arcs) {
  std::vector<bool> best;
  for (int bits = 0; bits < 1 << (nodes - 2); ++bits) {
    std::vector<bool> side = {true, false};
    for (int i = 2; i < nodes; ++i) side.push_back((bits >> (i - 2) & 1) != 0);
    const auto size = [](const std::vector<bool>& s) { return std::count(s.begin(), s.end(), true); };
    if (best.empty() ||
        std::pair(cost_of(arcs, side), size(side)) < std::pair(cost_of(arcs, best), size(best)))
      best = side;
  }
  return best;
}

TEST(MinCut, AgreesWithEnumeration) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    const int nodes = 2 + static_cast<int>(rng() % 8);
    std::vector<Arc> arcs;
    MinCut cut;
    for (int i = 0; i < nodes; ++i) cut.add_node();
    for (int i = 0; i < 3 * nodes; ++i) {
      const int a = static_cast<int>(rng() % static_cast<unsigned>(nodes)),
                b = static_cast<int>(rng() % static_cast<unsigned>(nodes));
      const std::int64_t forward = rng() % 6, backward = rng() % 3 == 0 ? rng() % 6 : 0;
      if (a == b) continue;
      cut.add_edge(a, b, forward, backward);
      arcs.push_back({a, b, forward});
      arcs.push_back({b, a, backward});
    }
    EXPECT_EQ(cut.source_side(0, 1), by_enumeration(nodes, arcs)) << round;
  }
}

TEST(MinCut, InfiniteEdgesAreNotCut) {
  MinCut cut;
  for (int i = 0; i < 4; ++i) cut.add_node();
  cut.add_edge(0, 2, MinCut::kInfinite);
  cut.add_edge(2, 3, 5);
  cut.add_edge(3, 1, MinCut::kInfinite);
  EXPECT_EQ(cut.source_side(0, 1), (std::vector<bool>{true, false, true, false}));
}

TEST(MinCut, LongChains) {
  MinCut cut;
  constexpr int kLength = 100000;
  const int source = cut.add_node(), sink = cut.add_node();
  int last = source;
  for (int i = 0; i < kLength; ++i) {
    const int next = cut.add_node();
    cut.add_edge(last, next, i == kLength / 2 ? 1 : 2, 2);
    last = next;
  }
  cut.add_edge(last, sink, 3);
  const std::vector<bool> side = cut.source_side(source, sink);
  EXPECT_EQ(std::count(side.begin(), side.end(), true), kLength / 2 + 1);
}

}  // namespace
}  // namespace atc::passes
