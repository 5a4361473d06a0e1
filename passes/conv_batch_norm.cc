#include "passes/conv_batch_norm.h"

#include "passes/batch_norm.h"
#include "passes/conv_weights.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

constexpr std::string_view kAtcName = "ConvBatchnormFusionPass";

using ir::Node;

bool fold(ir::Graph& g, Node& bn, PassContext& context) {
  const auto affine = batch_norm_affine(bn);
  if (!affine) return false;
  const Node* maker = bn.input(0)->producer();
  if (maker == nullptr || (!maker->is("Conv") && !maker->is("ConvTranspose"))) return false;
  const auto missed = [&](std::string_view reason) {
    context.near_miss(kAtcName, bn, reason);
    return false;
  };
  if (!maker->input(1)->is_constant()) return missed("the weights of " + maker->label() + " are no constant");
  context.fusions.matched(FusionKind::Graph, kAtcName);
  if (maker->output(0)->uses().size() != 1 || g.is_output(maker->output(0)))
    return missed("the result of " + maker->label() + " has other readers");
  Node* conv = constant_convolution(bn.input(0));
  if (conv == nullptr) return missed("the bias of " + maker->label() + " is no constant");
  fold_affine(g, *conv, affine->scale, affine->shift);
  add_sources(*conv, bn);
  replace_value(bn.output(0), conv->output(0));
  g.erase(&bn);
  context.fusions.effected(FusionKind::Graph, kAtcName);
  return true;
}

StatusOr<int> run(ir::Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list()) changes += fold(graph, *n, context) ? 1 : 0;
  return changes;
}

}  // namespace

Pass conv_batch_norm_pass() {
  return {"conv-batch-norm", kAtcName, "BatchNormalization is folded into the weights of its convolution",
          run};
}

}  // namespace atc::passes
