#include "passes/cube_form.h"

#include <algorithm>
#include <array>

#include "kernels/window.h"
#include "ops/window_geometry.h"
#include "passes/cube_node.h"
#include "passes/detached_bodies.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_cube_dtype(DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; }

bool window_in_range(const ops::WindowGeometry& w) {
  return kernels::window_in_range(w.kernel, w.strides, w.dilations, w.pads_begin) &&
         kernels::window_in_range(w.kernel, w.strides, w.dilations, w.pads_end);
}

/// Weights that are computed are packed by a copy, which leaves groups as they are: each must fill whole
/// blocks of channels, unless it is one channel of a depthwise window.
bool packs_at_run_time(const Dims& weight, std::int64_t group, bool transposed, bool depthwise, DType dtype) {
  if (group == 1 || depthwise) return true;
  const std::int64_t c0 = ir::c0_of(dtype);
  const std::int64_t first = weight[0] / group;  // of weight's axis 0, which holds all groups
  return first % c0 == 0 && weight[1] % c0 == 0 && (transposed || first % 16 == 0);
}

bool convolution(Graph& g, Node& n) {
  const bool transposed = n.is("ConvTranspose");
  if (!transposed && !n.is("Conv")) return false;
  const Value* x = n.input(0);
  const Value* w = n.input(1);
  Value* b = n.input(2);
  if (!is_cube_dtype(x->type.dtype)) return false;
  const Dims xd = x->type.dims(), wd = w->type.dims(), out = n.output(0)->type.dims();
  if (xd.size() < 3 || xd.size() > 5) return false;
  const Dims spatial = ops::spatial_dims(*x->type.shape), kernel = ops::spatial_dims(*w->type.shape);
  auto geometry =
      transposed ? ops::conv_transpose_geometry(n, spatial, kernel) : ops::conv_geometry(n, spatial, kernel);
  if (!geometry.ok()) return false;
  const std::int64_t group = n.attrs.get_int("group", 1);
  const bool depthwise = !transposed && group == xd[1] && wd[0] == group && group > 1;
  if (depthwise && !window_in_range(*geometry)) return false;
  if (!w->is_constant() && !packs_at_run_time(wd, group, transposed, depthwise, x->type.dtype)) return false;
  std::vector<Value*> inputs = {n.input(0), n.input(1)};
  Value* bias = nullptr;
  if (b != nullptr) {
    Dims by_channel(xd.size(), 1);
    by_channel[1] = out[1];
    bias = b->is_constant() ? channel_constant(g, b, xd.size())
                            : NodeWriter(g, n).reshape(b, by_channel, "bias");
  }
  if (bias != nullptr) inputs.push_back(bias);
  Node* r = replace_by_cube_node(g, n, depthwise ? "DepthwiseConv" : n.op_type, std::move(inputs), bias);
  set_geometry(*r, *geometry);
  r->attrs.set("group", group);
  // A transposed convolution multiplies each input once for every weight of its channel.
  r->attrs.set("macs", transposed ? macs_of(xd, wd, wd[1]) : macs_of(out, wd, wd[1]));
  g.erase(&n);
  return true;
}

bool matmul(Graph& g, Node& n) {
  if (!n.is("MatMul")) return false;
  const Value* a = n.input(0);
  const Value* b = n.input(1);
  if (!is_cube_dtype(a->type.dtype) || a->type.shape->size() < 2 || b->type.shape->size() < 2) return false;
  // No product to accumulate: the reference writes the zeros.
  if (a->type.dims().back() == 0) return false;
  replace_by_cube_node(g, n, "MatMul", {n.input(0), n.input(1)}, nullptr);
  g.erase(&n);
  return true;
}

bool pool(Graph& g, Node& n) {
  if (!n.is("MaxPool") && !n.is("AveragePool")) return false;
  if (n.output(1) != nullptr && (!n.output(1)->uses().empty() || g.is_output(n.output(1)))) return false;
  const Value* x = n.input(0);
  if (!is_cube_dtype(x->type.dtype) || x->type.shape->size() < 3 || x->type.shape->size() > 5) return false;
  auto geometry = ops::pool_geometry(n, ops::spatial_dims(*x->type.shape));
  if (!geometry.ok() || !window_in_range(*geometry)) return false;
  Node* r = replace_by_cube_node(g, n, n.op_type, {n.input(0)}, nullptr);
  set_geometry(*r, *geometry);
  r->attrs.set("kernel_shape", geometry->kernel);
  r->attrs.set("count_include_pad", n.attrs.get_int("count_include_pad", 0));
  g.erase(&n);
  return true;
}

constexpr std::array<std::string_view, 5> kOperators = {"AveragePool", "Conv", "ConvTranspose", "MatMul",
                                                        "MaxPool"};

StatusOr<int> run(Graph& graph, PassContext&) {
  const DetachedBodies detached(graph);
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!n->domain.empty() || !has_static_shapes(*n)) continue;
    if (std::ranges::find(kOperators, std::string_view(n->op_type)) == kOperators.end()) continue;
    if (n->output(0) == nullptr || element_count(n->output(0)->type.dims()) == 0) continue;
    if (convolution(graph, *n) || matmul(graph, *n) || pool(graph, *n)) ++changes;
  }
  return changes;
}

}  // namespace

std::vector<std::string_view> cube_form_operators() { return {kOperators.begin(), kOperators.end()}; }

Pass cube_form_pass() {
  return {"cube-form", "", "convolutions, matrix products and pools take the form that carries an epilogue",
          run};
}

}  // namespace atc::passes
