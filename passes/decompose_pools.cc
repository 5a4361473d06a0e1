#include "passes/decompose_pools.h"

#include <algorithm>
#include <numeric>

#include "ops/window_geometry.h"
#include "passes/node_writer.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr int kDilatedAverage = 19;  // since which AveragePool has dilations

bool is_vector_float(const Value* v) {
  return v->type.dtype == DType::F32 || v->type.dtype == DType::F16 || v->type.dtype == DType::BF16;
}

/// `p` was a float in version 1 and is an integer since.
double norm_order(const Node& n) {
  return n.version < 2 ? static_cast<double>(n.attrs.get_float("p", 2.0F))
                       : static_cast<double>(n.attrs.get_int("p", 2));
}

/// |x|^p. Squares are powers too: Pow is kept in fp32, where they do not overflow.
Value* powers(NodeWriter& w, Value* x, double p) {
  Value* magnitude = w.unary("Abs", x, "magnitude");
  if (p == 1) return magnitude;
  return w.binary("Pow", magnitude, w.scalar(p, x->type.dtype, "p"), x, "powers");
}

Value* root(NodeWriter& w, Value* y, double p) {
  if (p == 1) return y;
  if (p == 2) return w.unary("Sqrt", y, "root");
  return w.binary("Pow", y, w.scalar(1 / p, y->type.dtype, "inverse_p"), y, "root");
}

bool is_pooled_rank(std::size_t rank) { return rank >= 3 && rank <= 5; }

bool tells_where(const Graph& graph, const Node& n) {
  return n.output(1) != nullptr && (!n.output(1)->uses().empty() || graph.is_output(n.output(1)));
}

/// One window that covers the plane, every element once.
bool covers_plane(const ops::WindowGeometry& g, const Dims& spatial) {
  for (std::size_t i = 0; i < g.rank(); ++i)
    if (g.kernel[i] != spatial[i] || g.extent(i) != spatial[i] || g.pads_begin[i] != 0 ||
        g.pads_end[i] != 0 || g.output[i] != 1)
      return false;
  return true;
}

}  // namespace

bool expand_whole_pool(Graph& graph, Node& n) {
  const bool average = n.is("AveragePool");
  if ((!average && !n.is("MaxPool")) || !is_float(n.input(0)->type.dtype) || tells_where(graph, n))
    return false;
  const Dims spatial = ops::spatial_dims(*n.input(0)->type.shape);
  const auto g = ops::pool_geometry(n, spatial);
  if (!g.ok() || spatial.empty() || !covers_plane(*g, spatial)) return false;
  Dims axes(spatial.size());
  std::iota(axes.begin(), axes.end(), 2);
  NodeWriter w(graph, n);
  Node* r = w.insert(average ? "ReduceMean" : "ReduceMax", {n.input(0)}, n.output(0)->type, "whole");
  r->attrs.set("axes", axes);
  r->attrs.set("keepdims", std::int64_t{1});
  w.finish(r->output(0));
  return true;
}

bool expand_lp_pool(Graph& graph, Node& n) {
  Value* x = n.input(0);
  if (!n.is("LpPool") || !is_vector_float(x) || !is_pooled_rank(x->type.shape->size())) return false;
  const Dims spatial = ops::spatial_dims(*x->type.shape);
  const auto g = ops::pool_geometry(n, spatial);
  if (!g.ok() || element_count(n.output(0)->type.dims()) == 0) return false;
  // Padding behind the data up to the end of the last window, so that all windows have all their taps.
  Dims pads = g->pads_begin;
  for (std::size_t i = 0; i < spatial.size(); ++i)
    pads.push_back(std::max<std::int64_t>(
        0, (g->output[i] - 1) * g->strides[i] + g->extent(i) - spatial[i] - g->pads_begin[i]));
  const double p = norm_order(n);
  NodeWriter w(graph, n);
  const ir::TensorType out = n.output(0)->type;
  Node* mean = w.insert("AveragePool", {powers(w, x, p)}, out, "mean");
  mean->version = kDilatedAverage;
  mean->attrs.set("kernel_shape", g->kernel);
  mean->attrs.set("strides", g->strides);
  mean->attrs.set("dilations", g->dilations);
  mean->attrs.set("pads", pads);
  mean->attrs.set("count_include_pad", std::int64_t{1});
  Value* y = mean->output(0);
  Value* taps = w.scalar(static_cast<double>(element_count(g->kernel)), out.dtype, "taps");
  w.finish(root(w, w.binary("Mul", y, taps, y, "sum"), p));
  return true;
}

bool expand_global_lp_pool(Graph& graph, Node& n) {
  Value* x = n.input(0);
  if (!n.is("GlobalLpPool") || !is_vector_float(x) || x->type.shape->size() < 3) return false;
  Dims axes(x->type.shape->size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  const double p = norm_order(n);
  const ir::TensorType out = n.output(0)->type;
  NodeWriter w(graph, n);
  Node* sum = nullptr;
  if (p == 1 || p == 2) {
    sum = w.insert(p == 1 ? "ReduceL1" : "ReduceL2", {x}, out, "norm");
    sum->attrs.set("axes", axes);
  } else {
    sum = w.insert("ReduceSum", {powers(w, x, p), w.int64s(axes, "axes")}, out, "sum");
  }
  sum->attrs.set("keepdims", std::int64_t{1});
  w.finish(p == 1 || p == 2 ? sum->output(0) : root(w, sum->output(0), p));
  return true;
}

bool expand_integer_max_pool(Graph& graph, Node& n) {
  if (!n.is("MaxPool")) return false;
  Value* x = n.input(0);
  const DType dtype = x->type.dtype;
  if (dtype != DType::I8 && dtype != DType::U8) return false;
  if (!is_pooled_rank(x->type.shape->size())) return false;
  if (tells_where(graph, n)) return false;
  NodeWriter w(graph, n);
  auto cast = [&](Value* v, DType to, const std::string& suffix) {
    Node* c = w.insert("Cast", {v}, ir::tensor_type(to, v->type.dims()), suffix);
    c->attrs.set("to", static_cast<std::int64_t>(to));
    return c->output(0);
  };
  const ir::TensorType wide = ir::tensor_type(DType::F32, n.output(0)->type.dims());
  Node* pool = w.insert("MaxPool", {cast(x, DType::F32, "wide")}, wide, "max");
  pool->version = n.version;
  pool->attrs = n.attrs;
  // A window on padding alone gives the lowest value of the type.
  const double lowest = dtype == DType::I8 ? -128 : 0;
  Value* y =
      w.binary("Max", pool->output(0), w.scalar(lowest, DType::F32, "lowest"), pool->output(0), "floor");
  w.finish(cast(y, dtype, "narrow"));
  return true;
}

}  // namespace atc::passes
