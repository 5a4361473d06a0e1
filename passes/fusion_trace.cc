#include "passes/fusion_trace.h"

#include <algorithm>

#include "atc/base/strings.h"

namespace atc::passes {
namespace {

std::vector<std::string> sorted_sources(const ir::Node& n) {
  std::vector<std::string> out = n.sources;
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void FusionTrace::start(const ir::Graph& graph) {
  formations_.clear();
  remember(graph);
}

void FusionTrace::remember(const ir::Graph& graph) {
  sources_of_.clear();
  groups_.clear();
  for (const auto& n : graph.nodes()) {
    sources_of_[n->id()] = n->sources.size();
    if (n->sources.size() > 1) groups_.insert(join(sorted_sources(*n), "\n"));
  }
}

void FusionTrace::after(const Pass& pass, const ir::Graph& graph) {
  std::unordered_set<std::string> told;
  for (const auto& n : graph.nodes()) {
    if (n->sources.size() < 2) continue;
    const auto before = sources_of_.find(n->id());
    if (before != sources_of_.end() && before->second == n->sources.size()) continue;
    std::vector<std::string> sources = sorted_sources(*n);
    const std::string group = join(sources, "\n");
    // The same group in another form is no new one, and one pass makes it once.
    if (groups_.contains(group) || !told.insert(group).second) continue;
    formations_.push_back({std::string(pass.name), std::string(pass.atc_name), std::move(sources)});
  }
  remember(graph);
}

}  // namespace atc::passes
