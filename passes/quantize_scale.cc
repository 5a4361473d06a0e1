#include "passes/quantize_scale.h"

#include <algorithm>
#include <cmath>

#include "passes/quantize_util.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// 255 times such a power, and the power itself, are normal numbers of fp16.
constexpr int kLeastExponent = -14, kMostExponent = 7;

float power_below(float scale) {
  return std::ldexp(1.0F, std::clamp(std::ilogb(scale), kLeastExponent, kMostExponent));
}

// What `dq` makes, with another scale; for one reader.
Value* rescaled(NodeWriter& w, const Node& dq, float scale) {
  std::vector<Value*> inputs(dq.inputs().begin(), dq.inputs().end());
  inputs[1] = w.constant("scale", from_doubles(DType::F32, dq.input(1)->constant().shape,
                                               std::vector<double>{static_cast<double>(scale)}));
  Node* copy = w.node(dq.op_type, std::move(inputs), dq.output(0)->type);
  copy->name = dq.name;
  copy->version = dq.version;
  copy->attrs = dq.attrs;
  copy->sources = dq.sources;
  return copy->output(0);
}

bool product(Graph& g, Node& n) {
  if (!n.is("MatMul") || n.output(0)->type.dtype != DType::F32) return false;
  const Node* dq[2] = {dequantizer_of(n.input(0)), dequantizer_of(n.input(1))};
  if (dq[0] == nullptr || dq[1] == nullptr) return false;
  double factor = 1;
  float power[2];
  for (int i = 0; i < 2; ++i) {
    const float scale = tensor_quantization(*dq[i])->scale;
    power[i] = power_below(scale);
    factor *= static_cast<double>(scale) / static_cast<double>(power[i]);
  }
  if (factor == 1) return false;
  NodeWriter w(n);
  Value* a = rescaled(w, *dq[0], power[0]);
  Value* b = rescaled(w, *dq[1], power[1]);
  Node* whole = w.node("MatMul", {a, b}, n.output(0)->type);
  whole->version = n.version;
  Value* y = w.add("Mul", {whole->output(0), w.constant("factor", scalar_tensor(DType::F32, factor))},
                   n.output(0)->type);
  replace_value(n.output(0), y);
  g.erase(&n);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->domain.empty() && has_static_shapes(*n) && product(graph, *n)) ++changes;
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass quantize_scale_pass() {
  return {"quantize-scale", "", "products of two dequantized tensors take their scales behind them", run};
}

}  // namespace atc::passes
