#include "profile/core_use.h"

#include <algorithm>

namespace atc::profile {
namespace {

using aicore::kPipeCount;
using aicore::Pipe;
using aicore::TraceEvent;

struct Edge {
  Cycle at = 0;
  int pipe = 0;
  int step = 0;  // +1: an instruction begins, -1: it ends
};

/// aicore::Core traces it as an instruction of the scalar pipe.
bool waits_for_blocks(const TraceEvent& e) {
  return e.pipe == Pipe::S && (e.name == "SyncAll" || e.name == "CrossCoreWaitFlag");
}

std::vector<Edge> edges_of(std::span<const TraceEvent> events) {
  std::vector<Edge> edges;
  edges.reserve(events.size() * 2);
  for (const TraceEvent& e : events) {
    if (e.end <= e.start || waits_for_blocks(e)) continue;
    edges.push_back({e.start, static_cast<int>(e.pipe), 1});
    edges.push_back({e.end, static_cast<int>(e.pipe), -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  return edges;
}

/// Adds a stretch of time in which these pipes were busy.
void add_stretch(CoreUse& use, const std::array<int, kPipeCount>& active, Cycle length) {
  int busy = 0;
  bool copy = false, compute = false;
  for (int p = 0; p < kPipeCount; ++p) {
    if (active[static_cast<std::size_t>(p)] == 0) continue;
    ++busy;
    copy = copy || is_copy(static_cast<Pipe>(p));
    compute = compute || is_compute(static_cast<Pipe>(p));
  }
  for (std::size_t p = 0; p < active.size(); ++p) {
    if (active[p] == 0) continue;
    use.pipes[p].busy += length;
    use.pipes[p].overlap += busy > 1 ? length : 0;
  }
  use.copy += copy ? length : 0;
  use.compute += compute ? length : 0;
  use.both += copy && compute ? length : 0;
}

}  // namespace

bool is_copy(Pipe p) { return p == Pipe::MTE2 || p == Pipe::MTE3 || p == Pipe::FIX; }

bool is_compute(Pipe p) { return p == Pipe::V || p == Pipe::M; }

CoreUse core_use(std::span<const TraceEvent> events, Cycle cycles) {
  CoreUse use;
  use.cycles = cycles;
  for (const TraceEvent& e : events) {
    PipeUse& pipe = use.pipes[static_cast<std::size_t>(e.pipe)];
    ++pipe.instructions;
    pipe.bytes += e.bytes;
  }
  std::array<int, kPipeCount> active{};
  Cycle now = 0;
  for (const Edge& edge : edges_of(events)) {
    if (edge.at > now) add_stretch(use, active, edge.at - now);
    now = std::max(now, edge.at);
    active[static_cast<std::size_t>(edge.pipe)] += edge.step;
  }
  for (PipeUse& pipe : use.pipes) pipe.wait = cycles - pipe.busy;
  return use;
}

CoreUse& CoreUse::operator+=(const CoreUse& next) {
  cycles += next.cycles;
  copy += next.copy;
  compute += next.compute;
  both += next.both;
  for (std::size_t p = 0; p < pipes.size(); ++p) {
    pipes[p].busy += next.pipes[p].busy;
    pipes[p].wait += next.pipes[p].wait;
    pipes[p].overlap += next.pipes[p].overlap;
    pipes[p].instructions += next.pipes[p].instructions;
    pipes[p].bytes += next.pipes[p].bytes;
  }
  return *this;
}

}  // namespace atc::profile
