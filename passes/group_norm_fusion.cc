#include "passes/group_norm_fusion.h"

#include <algorithm>

#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::string_view kAtcName = "GroupNormFusionPass";

/// Behind `y`: its one reader of the type, and the other operand by channel.
std::optional<std::vector<double>> next(Value*& y, std::string_view type, std::vector<Node*>& nodes,
                                        const Dims& x) {
  Node* n = is_private(y) ? y->uses()[0].node : nullptr;
  if (n == nullptr || !n->is(type) || n->graph() != y->graph() || n->input(0) == n->input(1))
    return std::nullopt;
  auto values = by_channel(n->input(n->input(0) == y ? 1 : 0), x);
  if (!values || n->output(0)->type != y->type) return std::nullopt;
  nodes.push_back(n);
  y = n->output(0);
  return values;
}

bool fuse(Graph& graph, Node& norm, PassContext& context) {
  Node* split = made_by(norm.input(0), "Reshape");
  Value* i = norm.output(0);
  Node* back = is_private(i) ? i->uses()[0].node : nullptr;
  if (split == nullptr || back == nullptr || !back->is("Reshape") || back->graph() != norm.graph())
    return false;
  Value* x = split->input(0);
  Value* y = back->output(0);
  if (!has_static_shapes(*split) || !has_static_shapes(*back) || y->type != x->type) return false;
  const Dims dims = x->type.dims(), groups = i->type.dims();
  if (dims.size() < 3 || groups.size() < 3 || groups[0] != dims[0] || dims[1] % groups[1] != 0) return false;
  context.fusions.matched(FusionKind::Graph, kAtcName);
  if (!norm.input(1)->is_constant() || !norm.input(2)->is_constant()) return false;
  const std::vector<double> s = to_doubles(norm.input(1)->constant()),
                            b = to_doubles(norm.input(2)->constant());
  std::vector<Node*> nodes = {split, &norm, back};
  const auto scale = next(y, "Mul", nodes, dims);
  const auto bias = next(y, "Add", nodes, dims);
  Node& last = *nodes.back();
  if (!is_closed(nodes, last)) return false;
  const std::size_t channels = static_cast<std::size_t>(dims[1]), per = channels / s.size();
  std::vector<double> factor(channels), shift(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double m = scale ? (*scale)[c] : 1;
    factor[c] = s[c / per] * m;
    shift[c] = b[c / per] * m + (bias ? (*bias)[c] : 0);
  }
  const auto constant = [&](const char* suffix, const std::vector<double>& values) {
    return graph.add_constant(norm.name + suffix, from_doubles(x->type.dtype, {dims[1]}, values));
  };
  const float epsilon = norm.attrs.get_float("epsilon", 1e-5F);
  std::reverse(nodes.begin(), nodes.end());
  Node* one = replace_nodes(graph, nodes, last, "GroupNormalization",
                            {x, constant("/scale", factor), constant("/bias", shift)}, "GroupNorm", 21);
  one->attrs.set("num_groups", groups[1]);
  one->attrs.set("epsilon", epsilon);
  context.fusions.effected(FusionKind::Graph, kAtcName);
  return true;
}

// What a match takes away behind its norm is no norm.
StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is("InstanceNormalization") && n->version >= 6 && has_static_shapes(*n) &&
        fuse(graph, *n, context))
      ++changes;
  return changes;
}

}  // namespace

Pass group_norm_fusion_pass() {
  return {"group-norm-fusion", kAtcName,
          "group normalization written around InstanceNormalization becomes the operator", run};
}

}  // namespace atc::passes
