#include "passes/conv_affine.h"

#include <algorithm>
#include <cmath>

#include "passes/conv_weights.h"
#include "passes/match.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

struct Affine {
  std::vector<double> scale, shift;  ///< an empty scale: 1
};

// What the node makes of its operand `at`, the other being `c` by channels.
std::optional<Affine> affine_of(const Node& n, std::size_t at, const std::vector<double>& c) {
  const std::vector<double> zero(c.size(), 0.0);
  const auto mapped = [&](auto f) {
    std::vector<double> out = c;
    std::ranges::transform(out, out.begin(), f);
    return out;
  };
  if (n.is("Add")) return Affine{{}, c};
  if (n.is("Sub") && at == 0) return Affine{{}, mapped([](double x) { return -x; })};
  if (n.is("Sub")) return Affine{std::vector<double>(c.size(), -1.0), c};
  if (n.is("Mul")) return Affine{c, zero};
  if (n.is("Div") && at == 0) return Affine{mapped([](double x) { return 1.0 / x; }), zero};
  return std::nullopt;
}

bool fold(Graph& g, Node& n, PassContext& context) {
  const bool adds = n.is("Add") || n.is("Sub");
  if ((!adds && !n.is("Mul") && !n.is("Div")) || n.attrs.has("axis") || !has_static_shapes(n)) return false;
  const std::string_view name = adds ? "AABiasaddConvFusion" : "AConv2dMulFusion";
  for (std::size_t at = 0; at < 2; ++at) {
    Node* conv = constant_convolution(n.input(at));
    if (conv == nullptr || !has_static_shapes(*conv)) continue;
    context.fusions.matched(FusionKind::Graph, name);
    const Dims out = n.output(0)->type.dims();
    const auto c = by_channel(n.input(1 - at), out);
    const auto affine = c ? affine_of(n, at, *c) : std::nullopt;
    if (!affine || !is_private(n.input(at)) || n.input(at)->type != n.output(0)->type) return false;
    if (!affine->scale.empty() && conv->input(1)->uses().size() != 1) return false;
    const auto finite = [](double x) { return std::isfinite(x); };
    if (!std::ranges::all_of(affine->scale, finite) || !std::ranges::all_of(affine->shift, finite))
      return false;
    fold_affine(g, *conv, affine->scale, affine->shift);
    add_sources(*conv, n);
    replace_value(n.output(0), conv->output(0));
    g.erase(&n);
    context.fusions.effected(FusionKind::Graph, name);
    return true;
  }
  return false;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->domain.empty() && fold(graph, *n, context)) ++changes;
  return changes;
}

}  // namespace

Pass conv_affine_pass() {
  return {"conv-affine", "AABiasaddConvFusion", "constants by channel go into the convolution before them",
          run};
}

}  // namespace atc::passes
