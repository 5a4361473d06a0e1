#include "passes/conv_batch_norm.h"

#include <cmath>

#include "passes/rewrite.h"

namespace atc::passes {
namespace {

constexpr std::string_view kAtcName = "ConvBatchnormFusionPass";

using ir::Node;
using ir::Value;

bool constants(const Node& n, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (n.input(i) == nullptr || !n.input(i)->is_constant()) return false;
  return true;
}

// Index of the output channel of weight element e.
std::int64_t output_channel(const Node& conv, const Dims& w, std::int64_t e) {
  std::int64_t taps = 1;
  for (std::size_t i = 2; i < w.size(); ++i) taps *= w[i];
  if (conv.is("Conv")) return e / (taps * w[1]);
  const std::int64_t groups = conv.attrs.get_int("group", 1);
  return e / (taps * w[1]) / (w[0] / groups) * w[1] + e / taps % w[1];
}

bool fold(ir::Graph& g, Node& bn, PassContext& context) {
  if (!bn.is("BatchNormalization") || bn.attrs.get_int("training_mode", 0) != 0 || !constants(bn, 1, 5)) return false;
  Node* conv = bn.input(0)->producer();
  if (conv == nullptr || (!conv->is("Conv") && !conv->is("ConvTranspose")) || !constants(*conv, 1, 2)) return false;
  context.fusions.matched(FusionKind::Graph, kAtcName);
  const Value* bias = conv->input(2);
  if (conv->output(0)->uses().size() != 1 || g.is_output(conv->output(0)) || (bias != nullptr && !bias->is_constant()))
    return false;
  const Tensor& w = conv->input(1)->constant();
  const auto scale = to_doubles(bn.input(1)->constant()), shift = to_doubles(bn.input(2)->constant()),
             mean = to_doubles(bn.input(3)->constant()), variance = to_doubles(bn.input(4)->constant());
  const double epsilon = bn.attrs.get_float("epsilon", 1e-5F);
  std::vector<double> factor(scale.size()), new_bias(scale.size());
  const std::vector<double> old_bias = bias != nullptr ? to_doubles(bias->constant()) : std::vector<double>(scale.size(), 0.0);
  if (old_bias.size() != scale.size()) return false;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    factor[i] = scale[i] / std::sqrt(variance[i] + epsilon);
    new_bias[i] = (old_bias[i] - mean[i]) * factor[i] + shift[i];
  }
  std::vector<double> weights = to_doubles(w);
  for (std::size_t e = 0; e < weights.size(); ++e)
    weights[e] *= factor[static_cast<std::size_t>(output_channel(*conv, w.shape, static_cast<std::int64_t>(e)))];
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
  return {"conv-batch-norm", kAtcName, "BatchNormalization is folded into the weights of its convolution", run};
}

}  // namespace atc::passes
