#include "passes/quantize_expand.h"

#include <algorithm>
#include <array>

#include "ops/op.h"
#include "ops/quantize.h"
#include "passes/quantize_util.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_byte(DType t) { return t == DType::I8 || t == DType::U8; }

bool are_constant(const Node& n, std::initializer_list<std::size_t> inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](std::size_t i) { return n.input(i) == nullptr || n.input(i)->is_constant(); });
}

bool is_single(const Node& n, std::size_t i) { return n.input(i)->constant().count() == 1; }

double first(const Node& n, std::size_t i) { return to_doubles(n.input(i)->constant())[0]; }

// Round(sum * x_scale * w_scale / y_scale) + y_zero, as the output of `n`.
void requantize(Graph& g, Node& n, NodeWriter& w, Value* sum, double x_scale, const Value* w_scale,
                std::size_t y_scale, const Dims& channel_dims) {
  std::vector<double> factor = to_doubles(w_scale->constant());
  for (double& f : factor) f *= x_scale / first(n, y_scale);
  const Dims dims = factor.size() == 1 ? Dims{} : channel_dims;
  ir::TensorType type = sum->type;
  type.dtype = DType::F32;
  Value* scaled = w.add(
      "Mul", {w.cast(sum, DType::F32), w.constant("factor", from_doubles(DType::F32, dims, factor))}, type);
  const Value* zero = n.input(y_scale + 1);
  Value* one = w.constant("one", scalar_tensor(DType::F32, 1.0));
  Value* single_zero = w.constant("y_zero", scalar_tensor(zero->type.dtype, first(n, y_scale + 1)));
  replace_value(n.output(0), w.add("QuantizeLinear", {scaled, one, single_zero}, n.output(0)->type));
  g.erase(&n);
}

// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
bool qlinear_conv(Graph& g, Node& n) {
  if (!n.is("QLinearConv") || !are_constant(n, {1, 2, 3, 4, 5, 6, 7, 8})) return false;
  NodeWriter w(n);
  const std::int64_t channels = n.output(0)->type.dims()[1];
  Dims channel_dims(n.output(0)->type.dims().size() - 1, 1);
  channel_dims[0] = channels;
  ir::TensorType type = n.output(0)->type;
  type.dtype = DType::I32;
  Value* x_zero = w.constant("x_zero", scalar_tensor(n.input(2)->type.dtype, first(n, 2)));
  Node* product = w.node("ConvInteger", {n.input(0), n.input(3), x_zero, n.input(5)}, type);
  product->attrs = n.attrs;
  Value* sum = product->output(0);
  if (n.input(8) != nullptr) {
    Tensor bias = n.input(8)->constant();
    bias.shape = channel_dims;
    sum = w.add("Add", {sum, w.constant("bias", bias)}, type);
  }
  requantize(g, n, w, sum, first(n, 1), n.input(4), 6, channel_dims);
  return true;
}

// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
bool qlinear_matmul(Graph& g, Node& n) {
  if (!n.is("QLinearMatMul") || !are_constant(n, {1, 2, 3, 4, 5, 6, 7})) return false;
  for (std::size_t i : {0, 3, 7})
    if (!is_byte(n.input(i)->type.dtype)) return false;
  for (std::size_t i : {1, 4, 6})
    if (n.input(i)->type.dtype != DType::F32) return false;
  for (std::size_t i : {1, 2, 6, 7})
    if (!is_single(n, i)) return false;
  const Dims bd = n.input(3)->type.dims();
  if (bd.size() != 2) return false;
  for (std::size_t i : {4, 5})
    if (!is_single(n, i) && n.input(i)->constant().count() != bd[1]) return false;
  NodeWriter w(n);
  ir::TensorType type = n.output(0)->type;
  type.dtype = DType::I32;
  Value* a_zero = w.constant("a_zero", scalar_tensor(n.input(2)->type.dtype, first(n, 2)));
  Tensor zero = n.input(5)->constant();
  zero.shape = {static_cast<std::int64_t>(zero.count())};
  if (zero.count() == 1) zero.shape = {};
  Value* sum = w.add("MatMulInteger", {n.input(0), n.input(3), a_zero, w.constant("b_zero", zero)}, type);
  requantize(g, n, w, sum, first(n, 1), n.input(4), 6, {bd[1]});
  return true;
}

// The u8 range is laid over [min(x, 0), max(x, 0)].
bool dynamic_quantize(Graph& g, Node& n) {
  if (!n.is("DynamicQuantizeLinear") || element_count(n.input(0)->type.dims()) == 0) return false;
  if (n.input(0)->type.shape->empty()) return false;
  NodeWriter w(n);
  const ir::TensorType f32 = ir::tensor_type(DType::F32, {}), u8 = ir::tensor_type(DType::U8, {});
  Value* zero = w.constant("zero", scalar_tensor(DType::F32, 0.0));
  Value* most = w.constant("most", scalar_tensor(DType::F32, 255.0));
  Value* one = w.constant("one", scalar_tensor(DType::F32, 1.0));
  auto extreme = [&](const std::string& which) {
    Node* r = w.node("Reduce" + which, {n.input(0)}, f32);
    r->attrs.set("keepdims", std::int64_t{0});
    return w.add(which, {r->output(0), zero}, f32);
  };
  Value* low = extreme("Min");
  Value* high = extreme("Max");
  Value* scale = w.add("Div", {w.add("Sub", {high, low}, f32), most}, f32);
  // A tensor of zeros has no range: any scale gives zeros.
  Value* flat = w.add("Equal", {scale, zero}, ir::tensor_type(DType::Bool, {}));
  Value* divisor = w.add("Where", {flat, one, scale}, f32);
  Value* rounded = w.add("Round", {w.add("Div", {w.add("Neg", {low}, f32), divisor}, f32)}, f32);
  Value* zero_point = w.cast(w.add("Clip", {rounded, zero, most}, f32), DType::U8);
  Value* y = w.add("QuantizeLinear", {n.input(0), divisor, zero_point}, n.output(0)->type);
  const ir::TensorType outputs[] = {y->type, f32, u8};
  Value* values[] = {y, scale, zero_point};
  for (std::size_t i = 0; i < 3; ++i) {
    if (n.output(i) == nullptr) continue;
    ATC_CHECK(values[i]->type == outputs[i], "DynamicQuantizeLinear in other types");
    replace_value(n.output(i), values[i]);
  }
  g.erase(&n);
  return true;
}

// Scales and zero points by channel as [C, 1, ...] against data of rank `rank`; nullopt for other
// granularities.
std::optional<Dims> channel_shape(const Node& n, std::size_t rank) {
  if (n.attrs.get_int("block_size", 0) != 0 || !are_constant(n, {1, 2})) return std::nullopt;
  if (n.input(1)->type.dtype != DType::F32 || n.input(1)->constant().count() < 2) return std::nullopt;
  const auto axis = ops::normalize_axis(n.attrs.get_int("axis", 1), static_cast<std::int64_t>(rank));
  if (!axis) return std::nullopt;
  Dims dims(rank - static_cast<std::size_t>(*axis), 1);
  dims[0] = static_cast<std::int64_t>(n.input(1)->constant().count());
  return dims;
}

Value* parameter(NodeWriter& w, const Node& n, std::size_t i, DType dtype, const Dims& dims) {
  return w.constant(i == 1 ? "scale" : "zero_point",
                    from_doubles(dtype, dims, to_doubles(n.input(i)->constant())));
}

bool by_channel(Graph& g, Node& n) {
  const bool quantizes = n.is("QuantizeLinear");
  if (!quantizes && !n.is("DequantizeLinear")) return false;
  const DType bytes = (quantizes ? n.output(0) : n.input(0))->type.dtype;
  const DType floats = (quantizes ? n.input(0) : n.output(0))->type.dtype;
  const auto dims = channel_shape(n, n.input(0)->type.shape->size());
  if (!dims || floats != DType::F32 || !(is_byte(bytes) || (!quantizes && bytes == DType::I32))) return false;
  if (n.attrs.get_int("precision", 0) > 1 || n.input(0)->is_constant()) return false;
  NodeWriter w(n);
  ir::TensorType type = n.input(0)->type;
  Value* v = n.input(0);
  if (quantizes) {
    v = w.add("Round", {w.add("Div", {v, parameter(w, n, 1, DType::F32, *dims)}, type)}, type);
    if (n.input(2) != nullptr) v = w.add("Add", {v, parameter(w, n, 2, DType::F32, *dims)}, type);
    const auto [least, largest] = ops::integer_range(bytes);
    Value* low = w.constant("least", scalar_tensor(DType::F32, least));
    Value* high = w.constant("largest", scalar_tensor(DType::F32, largest));
    v = w.cast(w.add("Clip", {v, low, high}, type), bytes);
  } else {
    v = w.cast(v, DType::I32);
    if (n.input(2) != nullptr) v = w.add("Sub", {v, parameter(w, n, 2, DType::I32, *dims)}, v->type);
    v = w.cast(v, DType::F32);
    v = w.add("Mul", {v, parameter(w, n, 1, DType::F32, *dims)}, v->type);
  }
  replace_value(n.output(0), v);
  g.erase(&n);
  return true;
}

struct Rule {
  std::string_view op;
  bool (*rewrite)(Graph&, Node&);
};
constexpr std::array kRules = {Rule{"QLinearConv", qlinear_conv}, Rule{"QLinearMatMul", qlinear_matmul},
                               Rule{"DynamicQuantizeLinear", dynamic_quantize},
                               Rule{"QuantizeLinear", by_channel}, Rule{"DequantizeLinear", by_channel}};

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!n->domain.empty() || !has_static_shapes(*n)) continue;
    const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return n->is(r.op); });
    if (rule != kRules.end() && rule->rewrite(graph, *n)) ++changes;
  }
  return changes;
}

}  // namespace

std::vector<std::string_view> quantize_expanded_operators() {
  std::vector<std::string_view> out;
  for (const Rule& rule : kRules) out.push_back(rule.op);
  return out;
}

Pass quantize_expand_pass() {
  return {"quantize-expand", "",
          "quantized operators are written in integer products and elementwise operators", run};
}

}  // namespace atc::passes
