#include "passes/random_seeds.h"

#include "ops/random_stream.h"

namespace atc::passes {
namespace {

int set_seeds(ir::Graph& graph) {
  int changes = 0;
  for (const auto& node : graph.nodes()) {
    if (ops::draws_random_numbers(*node) && !node->attrs.has("seed")) {
      const std::uint32_t seed = ops::seed_of(*node);
      if (node->is("Dropout"))
        node->attrs.set("seed", ir::Attribute(static_cast<std::int64_t>(seed)));
      else
        node->attrs.set("seed", ir::Attribute(static_cast<float>(seed)));
      ++changes;
    }
    for (const auto& body : ir::subgraphs(*node)) changes += set_seeds(*body);
  }
  return changes;
}

StatusOr<int> run(ir::Graph& graph, PassContext&) { return set_seeds(graph); }

}  // namespace

Pass random_seeds_pass() {
  return {.name = "random-seeds",
          .summary = "Gives random operators without a seed one that does not hang on where they run",
          .run = run};
}

}  // namespace atc::passes
