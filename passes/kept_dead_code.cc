#include "passes/kept_dead_code.h"

#include <algorithm>

namespace atc::passes {

using ir::Graph;
using ir::Node;
using ir::Value;

KeptDeadCode::KeptDeadCode(const Graph& graph) {
  for (const auto& n : graph.nodes()) {
    const auto is_read = [&](const Value* v) { return v != nullptr && graph.is_used(v); };
    const auto& outputs = n->outputs();
    if (std::any_of(outputs.begin(), outputs.end(), is_read)) continue;
    const auto first =
        std::find_if(outputs.begin(), outputs.end(), [](const Value* v) { return v != nullptr; });
    if (first != outputs.end()) values_.push_back(*first);
  }
}

void KeptDeadCode::attach(Graph& graph) {
  for (Value* v : values_) graph.add_output(v);
}

void KeptDeadCode::detach(Graph& graph) {
  const std::vector<Value*> all(graph.outputs().begin(), graph.outputs().end());
  const std::size_t own = all.size() - values_.size();
  graph.clear_outputs();
  for (std::size_t i = 0; i < own; ++i) graph.add_output(all[i]);
  // Passes may have put others in their place.
  values_.assign(all.begin() + static_cast<std::ptrdiff_t>(own), all.end());
}

}  // namespace atc::passes
