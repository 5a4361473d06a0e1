#include "passes/quantize_fusion.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "passes/quantize_util.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// A product of quantized values: what Conv, MatMul and Gemm have in common.
struct Product {
  explicit Product(Node& n) : node(&n) {}
  Node* node;
  Value* x = nullptr;  // 8 bits
  TensorQuantization x_params;
  QuantizedWeight weight;
  std::int64_t channels = 0;            // of the output
  std::vector<std::int64_t> magnitude;  // of each channel's weights: the sum of their absolute values
  double factor = 1;                    // Gemm's alpha
  Dims channel_dims;                    // [channels], with 1s behind it for the spatial axes
  std::vector<double> bias;             // f32 values; empty without
  std::vector<double> integer_bias;     // the same in units of x_scale * w_scale; empty when it has none
};

// Sums of |w| by output channel. The channel of element i is i / inner % channels.
void measure(Product& p, std::int64_t inner) {
  p.magnitude.assign(static_cast<std::size_t>(p.channels), 0);
  for (std::size_t i = 0; i < p.weight.centered.size(); ++i)
    p.magnitude[i / static_cast<std::size_t>(inner) % static_cast<std::size_t>(p.channels)] +=
        std::abs(p.weight.centered[i]);
}

float unit(const Product& p, std::size_t channel) { return p.x_params.scale * p.weight.scale(channel); }

// The bias is constant, or the DequantizeLinear of a constant: each channel's value, or none for both.
bool read_bias(Product& p, const Value* bias, double beta) {
  if (bias == nullptr || beta == 0) return true;
  const Value* data = bias;
  const Node* dq = bias->producer();
  if (!bias->is_constant()) {
    if (dq == nullptr || !dq->is("DequantizeLinear") || !dq->input(0)->is_constant() ||
        !dq->input(1)->is_constant() || (dq->input(2) != nullptr && !dq->input(2)->is_constant()))
      return false;
    data = dq->input(0);
  }
  if (bias->type.dtype != DType::F32 || data->constant().count() != p.channels ||
      bias->type.dims().back() != p.channels)
    return false;
  p.bias = to_doubles(data->constant());
  if (bias->is_constant()) {
    for (double& b : p.bias) b *= beta;
    return true;
  }
  const std::vector<double> scale = to_doubles(dq->input(1)->constant());
  const std::vector<double> zero =
      dq->input(2) == nullptr ? std::vector<double>{0} : to_doubles(dq->input(2)->constant());
  if ((scale.size() != 1 && scale.size() != p.bias.size()) ||
      (zero.size() != 1 && zero.size() != scale.size()))
    return false;
  bool integral = beta == 1 && p.factor == 1;
  std::vector<double> counts = p.bias;
  for (std::size_t c = 0; c < p.bias.size(); ++c) {
    const double s = scale[scale.size() == 1 ? 0 : c];
    counts[c] -= zero[zero.size() == 1 ? 0 : c];
    p.bias[c] = counts[c] * s * beta;
    integral = integral && s == static_cast<double>(unit(p, c));
  }
  if (integral) p.integer_bias = std::move(counts);
  return true;
}

// No sum leaves int32, whatever the data: a centered u8 or i8 value is at most 255.
bool fits_int32(Product& p) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  bool with_bias = !p.integer_bias.empty();
  for (std::size_t c = 0; c < p.magnitude.size(); ++c) {
    const std::int64_t sum = 255 * p.magnitude[c];
    if (sum > kMost) return false;
    with_bias = with_bias && static_cast<double>(kMost - sum) >= std::abs(p.integer_bias[c]);
  }
  if (!with_bias) p.integer_bias.clear();
  return true;
}

Value* integer_weight(NodeWriter& w, const Product& p, bool transpose) {
  if (p.weight.symmetric && !transpose) return p.weight.stored;
  Dims dims = p.weight.dims;
  std::vector<double> values(p.weight.centered.begin(), p.weight.centered.end());
  if (transpose) {
    const std::size_t rows = static_cast<std::size_t>(dims[0]), cols = static_cast<std::size_t>(dims[1]);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c)
        values[c * rows + r] = static_cast<double>(p.weight.centered[r * cols + c]);
    dims = {dims[1], dims[0]};
  }
  return w.constant("weight_int8", from_doubles(DType::I8, dims, values));
}

// The QuantizeLinear that alone reads `v`, or a Relu that alone reads it; null when there is none.
Node* requantizer(const Graph& graph, const Value* v) {
  for (int i = 0; i < 2; ++i) {
    if (graph.is_output(v) || v->uses().size() != 1) return nullptr;
    Node* reader = v->uses()[0].node;
    if (reader->graph() != &graph) return nullptr;
    if (reader->is("QuantizeLinear")) return tensor_quantization(*reader) ? reader : nullptr;
    if (!reader->is("Relu")) return nullptr;
    v = reader->output(0);
  }
  return nullptr;
}

// Writes the integer form. `make` makes the integer product.
template <class F>
void rewrite(Graph& g, Product& p, bool transpose, PassContext& context, F make) {
  Node& n = *p.node;
  NodeWriter w(n);
  Value* zero = nullptr;
  if (p.x_params.zero != 0)
    zero = w.constant("x_zero_point", scalar_tensor(p.x_params.dtype, static_cast<double>(p.x_params.zero)));
  ir::TensorType type = n.output(0)->type;
  type.dtype = DType::I32;
  Value* sum = make(w, integer_weight(w, p, transpose), zero, type);
  if (!p.integer_bias.empty())
    sum = w.add("Add",
                {sum, w.constant("bias_int32", from_doubles(DType::I32, p.channel_dims, p.integer_bias))},
                type);

  double requantize = 1;
  if (Node* q = requantizer(g, n.output(0))) {
    requantize = static_cast<double>(tensor_quantization(*q)->scale);
    q->set_input(1, w.constant("scale", scalar_tensor(DType::F32, 1.0)));
    if (requantize != 1) {
      context.fusions.matched(FusionKind::Graph, "V200RequantFusionPass");
      context.fusions.effected(FusionKind::Graph, "V200RequantFusionPass");
    }
  }
  std::vector<double> factor(p.weight.scales.size());
  for (std::size_t c = 0; c < factor.size(); ++c)
    factor[c] = static_cast<double>(unit(p, c)) * p.factor / requantize;
  const Dims factor_dims = factor.size() == 1 ? Dims{} : p.channel_dims;
  type.dtype = DType::F32;
  Value* y = w.add(
      "Mul", {w.cast(sum, DType::F32), w.constant("factor", from_doubles(DType::F32, factor_dims, factor))},
      type);
  if (p.integer_bias.empty() && !p.bias.empty()) {
    for (double& b : p.bias) b /= requantize;
    y = w.add("Add", {y, w.constant("bias", from_doubles(DType::F32, p.channel_dims, p.bias))}, type);
  }
  replace_value(n.output(0), y);
  g.erase(&n);
}

bool read_operands(Product& p) {
  Node* dq = dequantizer_of(p.node->input(0));
  if (dq == nullptr) return false;
  auto weight = quantized_weight(p.node->input(1));
  if (!weight || p.node->output(0)->type.dtype != DType::F32) return false;
  p.x = dq->input(0);
  p.x_params = *tensor_quantization(*dq);
  p.weight = *std::move(weight);
  return true;
}

bool convolution(Graph& g, Node& n, PassContext& context) {
  Product p(n);
  if (!n.is("Conv") || !read_operands(p)) return false;
  context.fusions.matched(FusionKind::Graph, "Conv2DQuantProcessFusionPass");
  const std::size_t rank = p.weight.dims.size();
  const std::int64_t group = n.attrs.get_int("group", 1);
  const bool depthwise = group > 1 && group == p.weight.dims[0] && p.weight.dims[1] == 1;
  if (rank < 3 || rank > 5 || depthwise || (p.weight.scales.size() > 1 && p.weight.axis != 0)) return false;
  p.channels = p.weight.dims[0];
  p.channel_dims = Dims(rank - 1, 1);
  p.channel_dims[0] = p.channels;
  measure(p, element_count(Dims(p.weight.dims.begin() + 1, p.weight.dims.end())));
  if (!read_bias(p, n.input(2), 1) || !fits_int32(p)) return false;
  rewrite(g, p, false, context, [&](NodeWriter& w, Value* weight, Value* zero, const ir::TensorType& type) {
    std::vector<Value*> inputs = {p.x, weight};
    if (zero != nullptr) inputs.push_back(zero);
    Node* product = w.node("ConvInteger", std::move(inputs), type);
    product->attrs = n.attrs;
    return product->output(0);
  });
  context.fusions.effected(FusionKind::Graph, "Conv2DQuantProcessFusionPass");
  return true;
}

bool matmul(Graph& g, Node& n, PassContext& context) {
  Product p(n);
  const bool gemm = n.is("Gemm");
  if ((!gemm && !n.is("MatMul")) || !read_operands(p)) return false;
  const std::string_view name = gemm ? "FCQuantProcessFusionPass" : "MatmulV2QuantProcessFusionPass";
  context.fusions.matched(FusionKind::Graph, name);
  if (p.weight.dims.size() != 2 || p.x->type.shape->empty() || n.attrs.get_int("transA", 0) != 0)
    return false;
  const bool transposed = gemm && n.attrs.get_int("transB", 0) != 0;
  const std::int64_t channel_axis = transposed ? 0 : 1;
  if (p.weight.scales.size() > 1 && p.weight.axis != channel_axis) return false;
  p.channels = p.weight.dims[static_cast<std::size_t>(channel_axis)];
  p.channel_dims = {p.channels};
  if (gemm) p.factor = static_cast<double>(n.attrs.get_float("alpha", 1.0F));
  measure(p, transposed ? p.weight.dims[1] : 1);
  const double beta = gemm ? static_cast<double>(n.attrs.get_float("beta", 1.0F)) : 0;
  if (!read_bias(p, gemm ? n.input(2) : nullptr, beta) || !fits_int32(p)) return false;
  rewrite(g, p, transposed, context,
          [&](NodeWriter& w, Value* weight, Value* zero, const ir::TensorType& type) {
            std::vector<Value*> inputs = {p.x, weight};
            if (zero != nullptr) inputs.push_back(zero);
            return w.add("MatMulInteger", std::move(inputs), type);
          });
  context.fusions.effected(FusionKind::Graph, name);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!n->domain.empty() || !has_static_shapes(*n)) continue;
    if (convolution(graph, *n, context) || matmul(graph, *n, context)) ++changes;
  }
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass quantize_fusion_pass() {
  return {"quantize-fusion", "Conv2DQuantProcessFusionPass",
          "products of dequantized values multiply integers", run};
}

}  // namespace atc::passes
