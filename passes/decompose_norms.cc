#include "passes/decompose_norms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/batch_norm.h"
#include "ops/op.h"
#include "passes/node_writer.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_vector_float(const Value* v) {
  return v->type.dtype == DType::F32 || v->type.dtype == DType::F16 || v->type.dtype == DType::BF16;
}

/// Means over several groups of neighbouring axes are means of means: reductions run along one group.
Value* mean_over(NodeWriter& w, Value* x, const Dims& axes, const std::string& suffix) {
  for (std::size_t end = axes.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && axes[begin - 1] + 1 == axes[begin]) --begin;
    x = w.mean(x,
               Dims(axes.begin() + static_cast<std::ptrdiff_t>(begin),
                    axes.begin() + static_cast<std::ptrdiff_t>(end)),
               suffix + (begin == 0 ? "" : std::to_string(begin)));
    end = begin;
  }
  return x;
}

struct Deviation {
  Value* centered;
  Value* variance;
};

Deviation deviation(NodeWriter& w, Value* x, const Dims& axes) {
  Value* mean = mean_over(w, x, axes, "mean");
  Value* centered = w.binary("Sub", x, mean, x, "centered");
  Value* squares = w.binary("Mul", centered, centered, x, "squares");
  return {centered, mean_over(w, squares, axes, "variance")};
}

/// One element an index of axis 1, laid out to broadcast to x.
Value* by_channel(NodeWriter& w, Value* v, const Value* x, const std::string& suffix) {
  Dims dims(x->type.shape->size() - 1, 1);
  dims[0] = x->type.dims()[1];
  return w.reshape(v, dims, suffix);
}

double epsilon_of(const Node& n) { return static_cast<double>(n.attrs.get_float("epsilon", 1e-5F)); }

/// atc::InstanceNorm or atc::GroupNorm of x over the axes from 2 on; without a bias where that is null.
Value* plane_norm(NodeWriter& w, const Node& n, const char* type, Value* x, Value* scale, Value* bias) {
  std::vector<Value*> inputs = {x, scale};
  if (bias != nullptr) inputs.push_back(bias);
  Node* norm = w.insert(type, std::move(inputs), x->type, type);
  norm->domain = "atc";
  norm->version = 0;
  norm->attrs.set("axis", std::int64_t{2});
  norm->attrs.set("epsilon", n.attrs.get_float("epsilon", 1e-5F));
  return norm->output(0);
}

}  // namespace

bool expand_open_batch_norm(Graph& graph, Node& n) {
  Value* x = n.input(0);
  if (!n.is("BatchNormalization") || !is_vector_float(x)) return false;
  if (ops::is_training_batch_norm(n) || ops::is_per_activation_batch_norm(n)) return false;
  const Dims dims = x->type.dims();
  if (dims.size() < 2) return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (n.input(i) == nullptr || n.input(i)->type.dtype != x->type.dtype) return false;
  NodeWriter w(graph, n);
  Dims along(dims.size() - 1, 1);
  along[0] = dims[1];
  Value* variance = w.reshape(n.input(4), along, "variance");
  Value* epsilon = w.scalar(epsilon_of(n), x->type.dtype, "epsilon");
  Value* deviation = w.unary("Sqrt", w.binary("Add", variance, epsilon, variance, "shifted"), "deviation");
  Value* factor = w.binary("Div", w.reshape(n.input(1), along, "scale"), deviation, variance, "factor");
  Value* centered = w.binary("Sub", x, w.reshape(n.input(3), along, "mean"), x, "centered");
  Value* scaled = w.binary("Mul", centered, factor, x, "scaled");
  w.finish(w.binary("Add", scaled, w.reshape(n.input(2), along, "bias"), x, "biased"));
  return true;
}

bool expand_instance_norm(Graph& graph, Node& n) {
  Value* x = n.input(0);
  if (!n.is("InstanceNormalization") || !is_vector_float(x) || x->type.shape->size() < 3) return false;
  NodeWriter w(graph, n);
  Value* scale = by_channel(w, n.input(1), x, "scale");
  w.finish(plane_norm(w, n, "InstanceNorm", x, scale, by_channel(w, n.input(2), x, "bias")));
  return true;
}

bool expand_group_norm(Graph& graph, Node& n) {
  Value* x = n.input(0);
  if (!n.is("GroupNormalization") || !is_vector_float(x)) return false;
  const Dims dims = x->type.dims();
  const std::int64_t groups = n.attrs.get_int("num_groups", 0);
  if (dims.size() < 2 || groups < 1 || dims[1] % groups != 0 || element_count(dims) == 0) return false;
  NodeWriter w(graph, n);
  Value* grouped = w.reshape(x, {dims[0], groups, element_count(dims) / dims[0] / groups}, "groups");
  const bool by_group = n.version < 21;
  Value* scale = by_group ? by_channel(w, n.input(1), grouped, "scale") : w.scalar(1, x->type.dtype, "one");
  Value* bias = by_group ? by_channel(w, n.input(2), grouped, "bias") : nullptr;
  Value* y = w.reshape(plane_norm(w, n, "GroupNorm", grouped, scale, bias), dims, "channels");
  if (!by_group) {
    y = w.binary("Mul", y, by_channel(w, n.input(1), y, "scale"), y, "scaled");
    y = w.binary("Add", y, by_channel(w, n.input(2), y, "bias"), y, "biased");
  }
  w.finish(y);
  return true;
}

bool expand_mean_variance_norm(Graph& graph, Node& n) {
  Value* x = n.input(0);
  if (!n.is("MeanVarianceNormalization") || !is_vector_float(x)) return false;
  constexpr double kEpsilon = 1e-9;  // of the operator's function body
  Dims axes;
  for (std::int64_t a : n.attrs.get_ints("axes", {0, 2, 3})) {
    const auto axis = ops::normalize_axis(a, std::ssize(*x->type.shape));
    if (!axis) return false;
    axes.push_back(*axis);
  }
  std::sort(axes.begin(), axes.end());
  NodeWriter w(graph, n);
  const Deviation d = deviation(w, x, axes);
  Value* spread = w.unary("Sqrt", d.variance, "deviation");
  spread = w.binary("Add", spread, w.scalar(kEpsilon, x->type.dtype, "epsilon"), spread, "shifted");
  w.finish(w.binary("Div", d.centered, spread, x, "normalized"));
  return true;
}

bool expand_lrn(Graph& graph, Node& n) {
  constexpr std::int64_t kMaxWindow = 16;
  Value* x = n.input(0);
  if (!n.is("LRN") || !is_vector_float(x)) return false;
  const std::int64_t size = n.attrs.get_int("size", 1);
  const double alpha = static_cast<double>(n.attrs.get_float("alpha", 1e-4F));
  if (alpha < 0 || size > kMaxWindow) return false;
  NodeWriter w(graph, n);
  const DType dtype = x->type.dtype;
  // Scaled before it is squared: squares of activations leave the range of fp16.
  Value* t =
      w.binary("Mul", x, w.scalar(std::sqrt(alpha / static_cast<double>(size)), dtype, "factor"), x, "t");
  Value* squares = w.binary("Mul", t, t, x, "squares");
  Dims dims = x->type.dims(), pads(2 * dims.size(), 0);
  const std::int64_t channels = dims[1];
  pads[1] = (size - 1) / 2;
  pads[dims.size() + 1] = size / 2;
  dims[1] += size - 1;
  Value* padded =
      size == 1 ? squares
                : w.insert("Pad", {squares, w.int64s(pads, "pads")}, ir::tensor_type(dtype, dims), "padded")
                      ->output(0);
  Value* sum = nullptr;
  for (std::int64_t k = 0; k < size; ++k) {
    const std::string suffix = "window" + std::to_string(k);
    Value* part = padded;
    if (size > 1)
      part = w.insert("Slice",
                      {padded, w.int64s({k}, suffix + "_start"), w.int64s({k + channels}, suffix + "_end"),
                       w.int64s({1}, suffix + "_axis")},
                      x->type, suffix)
                 ->output(0);
    sum = sum == nullptr ? part : w.binary("Add", sum, part, x, suffix + "_sum");
  }
  const double bias = static_cast<double>(n.attrs.get_float("bias", 1.0F));
  const double beta = static_cast<double>(n.attrs.get_float("beta", 0.75F));
  sum = w.binary("Add", sum, w.scalar(bias, dtype, "bias"), x, "shifted");
  Value* power = w.binary("Pow", sum, w.scalar(beta, dtype, "beta"), x, "power");
  w.finish(w.binary("Div", x, power, x, "divided"));
  return true;
}

}  // namespace atc::passes
