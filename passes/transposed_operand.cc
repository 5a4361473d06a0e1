#include "passes/transposed_operand.h"

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "GemmTransFusionPass";

bool read_transposed(Graph& g, Node& n, PassContext& context) {
  if (!n.is_internal("MatMul") || n.attrs.get_int("trans_b", 0) != 0) return false;
  Value* b = n.input(1);
  Node* t = b->producer();
  if (t == nullptr || !t->is("Transpose") || !has_static_shapes(*t)) return false;
  context.fusions.matched(FusionKind::Graph, kAtcName);
  // Read as the first operand too, it is no operand's alone.
  if (!is_private(b)) return false;
  Dims perm = permutation_of(*t);
  const auto last = static_cast<std::int64_t>(perm.size()) - 1;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  if (perm.back() != last) return false;
  n.set_input(1, make_transpose(g, *t, t->input(0), perm));
  n.attrs.set("trans_b", std::int64_t{1});
  if (is_identity(perm)) add_sources(n, *t);
  g.erase(t);
  context.fusions.effected(FusionKind::Graph, kAtcName);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  std::vector<Node*> products;
  for (Node* n : graph.node_list())
    if (n->is_internal("MatMul")) products.push_back(n);
  for (Node* n : products) changes += read_transposed(graph, *n, context) ? 1 : 0;
  return changes;
}

}  // namespace

Pass transposed_operand_pass() {
  return {"transposed-operand", kAtcName, "products read their second operand transposed", run};
}

}  // namespace atc::passes
