#include "passes/transposed_operand.h"

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "BatchMatMulTransposeFusionPass";

/// Operand 0 or 1 as the Transpose in front of it has it.
bool read_transposed(Graph& g, Node& n, std::size_t operand, PassContext& context) {
  const char* attribute = operand == 0 ? "trans_a" : "trans_b";
  if (n.attrs.get_int(attribute, 0) != 0) return false;
  Value* v = n.input(operand);
  Node* t = v->producer();
  if (t == nullptr || !t->is("Transpose") || t->graph() != &g || !has_static_shapes(*t)) return false;
  context.fusions.matched(FusionKind::Graph, kAtcName);
  // Something else needs the transposed copy anyway.
  if (!is_private(v)) return false;
  Dims perm = permutation_of(*t);
  const auto last = static_cast<std::int64_t>(perm.size()) - 1;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  if (perm.back() != last) return false;
  n.set_input(operand, make_transpose(g, *t, t->input(0), perm));
  n.attrs.set(attribute, std::int64_t{1});
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
  for (Node* n : products)
    for (const std::size_t operand : {std::size_t{0}, std::size_t{1}})
      changes += read_transposed(graph, *n, operand, context) ? 1 : 0;
  return changes;
}

}  // namespace

Pass transposed_operand_pass() {
  return {"transposed-operand", kAtcName, "products read operands transposed", run};
}

}  // namespace atc::passes
