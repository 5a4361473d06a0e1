#include "passes/pass.h"

#include <algorithm>

namespace atc::passes {

bool PassContext::allows(std::string_view part) const {
  return current == nullptr || options.switches.is_part_on(*current, part);
}

void PassContext::near_miss(std::string_view fusion, const ir::Node& node, std::string_view reason) {
  NearMiss miss{std::string(fusion), node.name, node.op_type, node.sources, std::string(reason)};
  const auto same = [&](const NearMiss& m) {
    return m.fusion == miss.fusion && m.node == miss.node && m.sources == miss.sources;
  };
  // The pass may come by again: the last word counts.
  const auto known = std::find_if(near_misses.begin(), near_misses.end(), same);
  if (known == near_misses.end())
    near_misses.push_back(std::move(miss));
  else
    *known = std::move(miss);
}

}  // namespace atc::passes
