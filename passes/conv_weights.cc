#include "passes/conv_weights.h"

namespace atc::passes {

using ir::Graph;
using ir::Node;
using ir::Value;

namespace {

// Index of the output channel of weight element e.
std::int64_t output_channel(const Node& conv, const Dims& w, std::int64_t e) {
  std::int64_t taps = 1;
  for (std::size_t i = 2; i < w.size(); ++i) taps *= w[i];
  if (conv.is("Conv")) return e / (taps * w[1]);
  const std::int64_t groups = conv.attrs.get_int("group", 1);
  return e / (taps * w[1]) / (w[0] / groups) * w[1] + e / taps % w[1];
}

}  // namespace

Node* constant_convolution(const Value* v) {
  Node* n = v->producer();
  if (n == nullptr || (!n->is("Conv") && !n->is("ConvTranspose")) || !n->input(1)->is_constant())
    return nullptr;
  return n->input(2) == nullptr || n->input(2)->is_constant() ? n : nullptr;
}

void fold_affine(Graph& g, Node& conv, const std::vector<double>& scale, const std::vector<double>& shift) {
  const Value* bias = conv.input(2);
  const Tensor& w = conv.input(1)->constant();
  std::vector<double> new_bias = shift;
  if (bias != nullptr) {
    const std::vector<double> old_bias = to_doubles(bias->constant());
    for (std::size_t i = 0; i < new_bias.size(); ++i)
      new_bias[i] += old_bias[i] * (scale.empty() ? 1.0 : scale[i]);
  }
  const DType dtype = w.dtype;
  if (!scale.empty()) {
    std::vector<double> weights = to_doubles(w);
    for (std::size_t e = 0; e < weights.size(); ++e)
      weights[e] *=
          scale[static_cast<std::size_t>(output_channel(conv, w.shape, static_cast<std::int64_t>(e)))];
    conv.set_input(1, g.add_constant(conv.input(1)->name(), from_doubles(dtype, w.shape, weights)));
  }
  conv.set_input(2, g.add_constant(bias != nullptr ? bias->name() : conv.name + "/bias",
                                   from_doubles(dtype, {std::ssize(new_bias)}, new_bias)));
}

}  // namespace atc::passes
