#include "passes/constant_evaluator.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "atc/base/check.h"
#include "ops/op.h"

namespace atc::passes {
namespace {

constexpr std::int64_t kSmallBytes = std::int64_t{64} << 10;
constexpr std::int64_t kGrowth = 4;
/// No result is kept that is larger than this and than all constants of the model together: four-fold
/// growth must not compound along a chain.
constexpr std::int64_t kAlwaysAllowedBytes = std::int64_t{1} << 20;
/// Deferred results are made and dropped again: they cost time and memory while they are there.
constexpr std::int64_t kDeferredLimitBytes = std::int64_t{64} << 20;
constexpr std::int64_t kDeferredHeldBytes = std::int64_t{128} << 20;
constexpr int kDeferredDepth = 32;
/// Multiply-accumulates that a reference evaluation may cost here.
constexpr double kMaxWork = 1 << 26;

/// Operators that cost more than a pass over their inputs and outputs.
bool is_contraction(const ir::Node& node) {
  static constexpr std::array<std::string_view, 9> kTypes = {"MatMul",        "Gemm",        "Conv",
                                                             "ConvTranspose", "Einsum",      "MatMulInteger",
                                                             "ConvInteger",   "QLinearConv", "QLinearMatMul"};
  return std::find(kTypes.begin(), kTypes.end(), node.op_type) != kTypes.end();
}

/// Exact for a matrix product: sqrt(MK * KN * MN) = MNK.
double contraction_work(const ir::Node& node) {
  double product = 1;
  for (const auto& values : {node.inputs(), node.outputs()})
    for (const ir::Value* v : values)
      if (v != nullptr && v->type.is_static())
        product *= std::max(1.0, static_cast<double>(element_count(v->type.dims())));
  return std::sqrt(product);
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

/// What a node holds itself: the tensors and lists of a Constant.
std::int64_t attribute_bytes(const ir::Node& node) {
  std::size_t total = 0;
  for (const auto& [key, attr] : node.attrs.map()) {
    if (const auto* t = std::get_if<Tensor>(&attr))
      total += t->data.size() + t->strings.size() * sizeof(std::string);
    if (const auto* list = std::get_if<std::vector<float>>(&attr)) total += list->size() * sizeof(float);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attr))
      total += list->size() * sizeof(std::int64_t);
    if (const auto* list = std::get_if<std::vector<std::string>>(&attr))
      total += list->size() * sizeof(std::string);
  }
  return static_cast<std::int64_t>(total);
}

std::int64_t constant_bytes(const ir::Graph& graph) {
  std::int64_t total = 0;
  for (const ir::Value* v : graph.values())
    if (v->is_constant()) total = saturating_add(total, static_cast<std::int64_t>(v->constant().data.size()));
  for (const auto& node : graph.nodes()) {
    total = saturating_add(total, attribute_bytes(*node));
    for (const auto& body : ir::subgraphs(*node)) total = saturating_add(total, constant_bytes(*body));
  }
  return total;
}

/// Total bytes of the outputs; nullopt when one is not static.
std::optional<std::int64_t> output_bytes(const ir::Node& node) {
  std::int64_t total = 0;
  for (const ir::Value* v : node.outputs()) {
    if (v == nullptr) continue;
    const auto bytes = static_bytes(v->type);
    if (!bytes) return std::nullopt;
    total = saturating_add(total, *bytes);
  }
  return total;
}

}  // namespace

std::optional<std::int64_t> static_bytes(const ir::TensorType& type) {
  if (!type.is_static() || type.dtype == DType::Undefined) return std::nullopt;
  const std::int64_t count = element_count(type.dims());
  if (count < 0 || count > (std::int64_t{1} << 58)) return std::nullopt;
  // A string counts with what its object takes.
  if (type.dtype == DType::String) return count * static_cast<std::int64_t>(sizeof(std::string));
  return static_cast<std::int64_t>(byte_size(type.dtype, static_cast<std::size_t>(count)));
}

ConstantEvaluator::ConstantEvaluator(const ir::Graph& graph, bool keep_dequantize)
    : result_limit_(std::max(kAlwaysAllowedBytes, constant_bytes(graph))),
      keep_dequantize_(keep_dequantize) {}

bool ConstantEvaluator::computable(const ir::Node& node) const {
  const ops::OpDef* def = ops::Registry::instance().find(node);
  if (keep_dequantize_ && node.is("DequantizeLinear")) return false;
  if (def == nullptr || !def->foldable || def->reference == nullptr || !ir::subgraphs(node).empty())
    return false;
  for (const ir::Value* v : node.inputs())
    if (v != nullptr && (!is_source(v) || v->type.format != ir::Format::ND)) return false;
  for (const ir::Value* v : node.outputs())
    if (v != nullptr && v->type.format != ir::Format::ND) return false;
  return !is_contraction(node) || contraction_work(node) <= kMaxWork;
}

std::int64_t ConstantEvaluator::source_bytes(const ir::Node& node) const {
  std::int64_t total = attribute_bytes(node);
  for (const ir::Value* v : node.inputs()) {
    if (v == nullptr) continue;
    const auto deferred = deferred_bytes_.find(v);
    total = saturating_add(
        total, deferred != deferred_bytes_.end() ? deferred->second : static_bytes(v->type).value_or(0));
  }
  return total;
}

std::optional<std::vector<Tensor>> ConstantEvaluator::fold(const ir::Node& node) {
  if (!computable(node)) return std::nullopt;
  const auto bytes = output_bytes(node);
  if (!bytes) return std::nullopt;
  const std::int64_t sources = source_bytes(node);
  const bool grows = *bytes / kGrowth > sources || *bytes > result_limit_;
  if (*bytes <= kSmallBytes || !grows) return evaluate(node, 0);
  if (*bytes <= kDeferredLimitBytes)
    for (const ir::Value* v : node.outputs())
      if (v != nullptr) deferred_bytes_[v] = sources;
  return std::nullopt;
}

std::optional<Tensor> ConstantEvaluator::deferred(const ir::Value& v, int depth) {
  const auto index = static_cast<std::size_t>(v.output_index());
  if (const auto held = deferred_results_.find(v.producer()); held != deferred_results_.end())
    return held->second[index];
  auto outputs = evaluate(*v.producer(), depth);
  if (!outputs) return std::nullopt;
  Tensor result = (*outputs)[index];
  const std::int64_t bytes = output_bytes(*v.producer()).value_or(INT64_MAX);
  if (bytes <= kDeferredHeldBytes - deferred_held_bytes_) {
    deferred_held_bytes_ += bytes;
    deferred_results_.emplace(v.producer(), *std::move(outputs));
  }
  return result;
}

std::optional<std::vector<Tensor>> ConstantEvaluator::evaluate(const ir::Node& node, int depth) {
  if (depth > kDeferredDepth) return std::nullopt;
  std::vector<Tensor> made(node.inputs().size());
  std::vector<const Tensor*> inputs(node.inputs().size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::Value* v = node.inputs()[i];
    if (v == nullptr) continue;
    if (v->is_constant()) {
      inputs[i] = &v->constant();
      continue;
    }
    auto value = deferred(*v, depth + 1);
    if (!value) return std::nullopt;
    made[i] = *std::move(value);
    inputs[i] = &made[i];
  }
  ops::EvalContext context(node, std::move(inputs));
  // A node that cannot be computed is the user's to see at run time, if it ever runs.
  if (!ops::Registry::instance().find(node)->reference(context).ok()) return std::nullopt;
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    const ir::Value* v = node.output(i);
    if (v == nullptr) continue;
    const Tensor& t = context.outputs[i];
    ATC_CHECK(t.dtype == v->type.dtype && t.shape == v->type.dims(),
              "the reference of " + node.label() + " made " +
                  ir::to_string(ir::tensor_type(t.dtype, t.shape)) + " for an output of type " +
                  ir::to_string(v->type));
  }
  return std::move(context.outputs);
}

}  // namespace atc::passes
