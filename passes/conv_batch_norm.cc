#include "passes/conv_batch_norm.h"

#include "passes/batch_norm.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

constexpr std::string_view kAtcName = "ConvBatchnormFusionPass";

using ir::Node;
using ir::Value;

// Index of the output channel of weight element e.
std::int64_t output_channel(const Node& conv, const Dims& w, std::int64_t e) {
  std::int64_t taps = 1;
  for (std::size_t i = 2; i < w.size(); ++i) taps *= w[i];
  if (conv.is("Conv")) return e / (taps * w[1]);
  const std::int64_t groups = conv.attrs.get_int("group", 1);
  return e / (taps * w[1]) / (w[0] / groups) * w[1] + e / taps % w[1];
}

bool fold(ir::Graph& g, Node& bn, PassContext& context) {
  const auto affine = batch_norm_affine(bn);
  if (!affine) return false;
  Node* conv = bn.input(0)->producer();
  if (conv == nullptr || (!conv->is("Conv") && !conv->is("ConvTranspose")) || !conv->input(1)->is_constant())
    return false;
  context.fusions.matched(FusionKind::Graph, kAtcName);
  const Value* bias = conv->input(2);
  if (conv->output(0)->uses().size() != 1 || g.is_output(conv->output(0)) ||
      (bias != nullptr && !bias->is_constant()))
    return false;
  const Tensor& w = conv->input(1)->constant();
  std::vector<double> new_bias = affine->shift;
  if (bias != nullptr) {
    const std::vector<double> old_bias = to_doubles(bias->constant());
    for (std::size_t i = 0; i < new_bias.size(); ++i) new_bias[i] += old_bias[i] * affine->scale[i];
  }
  std::vector<double> weights = to_doubles(w);
  for (std::size_t e = 0; e < weights.size(); ++e)
    weights[e] *=
        affine->scale[static_cast<std::size_t>(output_channel(*conv, w.shape, static_cast<std::int64_t>(e)))];
  conv->set_input(1, g.add_constant(conv->input(1)->name(), from_doubles(w.dtype, w.shape, weights)));
  conv->set_input(2, g.add_constant(bias != nullptr ? bias->name() : conv->name + "/bias",
                                    from_doubles(w.dtype, {std::ssize(new_bias)}, new_bias)));
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
