#include "passes/transpose_motion.h"

#include <array>

#include "passes/permuted_region.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool merge_transposes(Graph& g, Node& n) {
  if (!n.is("Transpose")) return false;
  const Node* inner = n.input(0)->producer();
  if (inner == nullptr || !inner->is("Transpose") || !has_static_shapes(*inner)) return false;
  const Dims perm = permuted(permutation_of(*inner), permutation_of(n));
  Value* x = inner->input(0);
  if (is_identity(perm) && !can_replace(n.output(0), x)) return false;
  Value* y = make_transpose(g, n, x, perm);
  if (y != x) add_sources(*y->producer(), *inner);
  return replace_output(n, 0, y);
}

bool turn_region(Graph& g, Node& n) {
  if (!n.is("Transpose") || is_identity(permutation_of(n))) return false;
  for (const bool foreign : {false, true}) {
    PermutedRegion region(g, n, foreign);
    if (region.gain() <= 0) continue;
    region.turn();
    return true;
  }
  return false;
}

constexpr std::array<Rule, 2> kRules = {merge_transposes, turn_region};

StatusOr<int> run(Graph& graph, PassContext&) { return apply_rules(graph, kRules); }

}  // namespace

Pass transpose_motion_pass() {
  return {"transpose-motion", "", "Transposes merge, and move across operators where that cancels some", run};
}

}  // namespace atc::passes
