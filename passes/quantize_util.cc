#include "passes/quantize_util.h"

#include <algorithm>
#include <cmath>

#include "ops/quantize.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr int kOpset = 17;  // of the nodes written here

bool is_byte(DType t) { return t == DType::I8 || t == DType::U8; }

bool is_linear(const Node& n) { return n.is("QuantizeLinear") || n.is("DequantizeLinear"); }

bool is_scale(double s) { return std::isfinite(s) && s > 0; }

}  // namespace

std::optional<TensorQuantization> tensor_quantization(const Node& n) {
  if (!is_linear(n) || n.attrs.get_int("block_size", 0) != 0 || n.output(0) == nullptr) return std::nullopt;
  const std::int64_t precision = n.attrs.get_int("precision", 0);
  if (precision != 0 && precision != static_cast<std::int64_t>(DType::F32)) return std::nullopt;
  const bool quantizes = n.is("QuantizeLinear");
  const Value* bytes = quantizes ? n.output(0) : n.input(0);
  const Value* floats = quantizes ? n.input(0) : n.output(0);
  const Value *scale = n.input(1), *zero = n.input(2);
  if (!is_byte(bytes->type.dtype) || floats->type.dtype != DType::F32) return std::nullopt;
  if (!scale->is_constant() || scale->type.dtype != DType::F32 || scale->constant().count() != 1)
    return std::nullopt;
  TensorQuantization q;
  q.dtype = bytes->type.dtype;
  q.scale = static_cast<float>(to_doubles(scale->constant())[0]);
  if (!is_scale(static_cast<double>(q.scale))) return std::nullopt;
  if (zero == nullptr) return q;
  if (!zero->is_constant() || zero->constant().count() != 1) return std::nullopt;
  q.zero = static_cast<int>(to_doubles(zero->constant())[0]);
  return q;
}

Node* dequantizer_of(const Value* v) {
  if (v == nullptr || v->producer() == nullptr || !v->producer()->is("DequantizeLinear")) return nullptr;
  return tensor_quantization(*v->producer()) ? v->producer() : nullptr;
}

std::optional<QuantizedWeight> quantized_weight(const Value* v) {
  if (v == nullptr || v->producer() == nullptr || !v->producer()->is("DequantizeLinear")) return std::nullopt;
  const Node& n = *v->producer();
  Value* stored = n.input(0);
  const Value *scale = n.input(1), *zero = n.input(2);
  if (!stored->is_constant() || !is_byte(stored->type.dtype) || v->type.dtype != DType::F32)
    return std::nullopt;
  if (!scale->is_constant() || scale->type.dtype != DType::F32 || scale->constant().count() < 1)
    return std::nullopt;
  if (zero != nullptr && !zero->is_constant()) return std::nullopt;
  if (n.attrs.get_int("block_size", 0) != 0) return std::nullopt;
  QuantizedWeight w;
  w.stored = stored;
  w.dims = stored->constant().shape;
  const auto g = ops::quantization_granularity(n, w.dims, scale->constant().shape);
  if (!g.ok()) return std::nullopt;
  for (double s : to_doubles(scale->constant())) w.scales.push_back(static_cast<float>(s));
  if (!std::all_of(w.scales.begin(), w.scales.end(),
                   [](float x) { return is_scale(static_cast<double>(x)); }))
    return std::nullopt;
  if (w.scales.size() > 1) {
    const auto axis = ops::normalize_axis(n.attrs.get_int("axis", 1), std::ssize(w.dims));
    if (!axis) return std::nullopt;
    w.axis = *axis;
  }
  const std::vector<double> values = to_doubles(stored->constant());
  const std::vector<double> zeros = zero == nullptr ? std::vector<double>{0} : to_doubles(zero->constant());
  w.centered.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    w.centered[i] = static_cast<int>(values[i] - zeros[zeros.size() == 1 ? 0 : g->scale_of(i)]);
    if (w.centered[i] < -128 || w.centered[i] > 127) return std::nullopt;
  }
  w.symmetric = stored->type.dtype == DType::I8 &&
                std::all_of(zeros.begin(), zeros.end(), [](double z) { return z == 0; });
  return w;
}

Node* NodeWriter::node(std::string type, std::vector<Value*> inputs, const ir::TensorType& out) {
  const std::string name = before_.name.empty() ? type : before_.name + "/" + type;
  Node* n = graph_.add_node(std::move(type), std::move(inputs), 1, &before_, {}, kOpset);
  n->name = name;
  n->sources = before_.sources;
  n->output(0)->type = out;
  return n;
}

Value* NodeWriter::add(std::string type, std::vector<Value*> inputs, const ir::TensorType& out) {
  return node(std::move(type), std::move(inputs), out)->output(0);
}

Value* NodeWriter::cast(Value* v, DType to) {
  ir::TensorType type = v->type;
  type.dtype = to;
  Node* n = node("Cast", {v}, type);
  n->attrs.set("to", static_cast<std::int64_t>(to));
  return n->output(0);
}

Value* NodeWriter::constant(const std::string& suffix, Tensor tensor) {
  return graph_.add_constant(before_.name + "/" + suffix, std::move(tensor));
}

}  // namespace atc::passes
