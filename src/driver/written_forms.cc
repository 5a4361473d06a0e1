#include "driver/written_forms.h"

#include <algorithm>
#include <unordered_map>

#include "passes/bind_shapes.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"

namespace atc::driver {
namespace {

using ir::Graph;
using ir::Node;

template <class F>
void for_nodes(const Graph& graph, const F& f) {
  for (const auto& n : graph.nodes()) {
    f(*n);
    for (const auto& body : ir::subgraphs(*n)) for_nodes(*body, f);
  }
}

/// The kind of a node that a recogniser has made, which is called after the last node that it stands for; ""
/// of others.
std::string kind_of(const Node& n) {
  if (n.sources.size() < 2) return {};
  const std::size_t slash = n.name.rfind('/');
  // The last node had no name.
  if (slash == std::string::npos) return n.name;
  const std::string base = n.name.substr(0, slash);
  const bool is_source = std::find(n.sources.begin(), n.sources.end(), base) != n.sources.end();
  return is_source ? n.name.substr(slash + 1) : std::string();
}

}  // namespace

std::vector<WrittenForm> written_forms(const Graph& graph,
                                       const std::map<std::string, std::vector<std::int64_t>>& input_shapes,
                                       const passes::Switches& switches) {
  const std::unique_ptr<Graph> copy = graph.clone();
  if (!passes::bind_input_shapes(*copy, input_shapes, "input_shape").ok()) return {};
  passes::PassContext context;
  if (!passes::PassManager(passes::canonical_passes()).run(*copy, context).ok()) return {};

  std::unordered_map<std::string, std::vector<const Node*>> by_source;
  for_nodes(graph, [&](const Node& n) {
    if (!n.sources.empty()) by_source[n.sources.front()].push_back(&n);
  });
  std::vector<WrittenForm> out;
  for (const passes::Pass& pass : passes::written_out_passes()) {
    std::vector<std::string> known;  // made by the passes before
    for_nodes(*copy, [&](const Node& n) { known.push_back(n.name); });
    std::sort(known.begin(), known.end());
    if (!passes::PassManager(std::vector<passes::Pass>{pass}).run(*copy, context).ok()) return {};
    for_nodes(*copy, [&](const Node& n) {
      const std::string kind = kind_of(n);
      if (kind.empty() || std::binary_search(known.begin(), known.end(), n.name)) return;
      WrittenForm& form = out.emplace_back();
      form.type = kind;
      form.fuses = switches.is_on(pass);
      for (const std::string& source : n.sources)
        if (const auto found = by_source.find(source); found != by_source.end())
          form.nodes.insert(form.nodes.end(), found->second.begin(), found->second.end());
    });
  }
  return out;
}

}  // namespace atc::driver
