#include "passes/switches.h"

#include "passes/pass.h"

namespace atc::passes {

bool Switches::is_on(const Pass& pass) const {
  if (!pass.optional) return true;
  for (const std::string_view name : {pass.name, pass.atc_name})
    if (const auto found = passes.find(name); !name.empty() && found != passes.end()) return found->second;
  return (pass.kind == FusionKind::Graph ? all_graph : all_ub).value_or(true);
}

void Switches::override_with(const Switches& other) {
  for (const auto& [name, on] : other.passes) passes[name] = on;
  if (other.all_graph) all_graph = other.all_graph;
  if (other.all_ub) all_ub = other.all_ub;
}

}  // namespace atc::passes
