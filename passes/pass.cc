#include "passes/pass.h"

namespace atc::passes {

bool PassContext::allows(std::string_view part) const {
  return current == nullptr || options.switches.is_part_on(*current, part);
}

void PassContext::near_miss(std::string_view fusion, const ir::Node& node, std::string_view reason) {
  const auto [at, is_new] =
      miss_at_.try_emplace({std::string(fusion), node.name, node.sources}, near_misses.size());
  if (is_new)
    near_misses.push_back({std::string(fusion), node.name, node.op_type, node.sources, std::string(reason)});
  else  // the pass came by again: its last word counts
    near_misses[at->second].reason = reason;
}

}  // namespace atc::passes
