#include "passes/cube_form.h"

#include "kernels/window.h"
#include "ops/window_geometry.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_cube_dtype(DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; }

// acc -> acc, or acc + bias.
std::shared_ptr<Graph> epilogue(const ir::TensorType& out, const Value* bias) {
  auto body = std::make_shared<Graph>("epilogue");
  Value* acc = body->add_input("acc", out);
  if (bias == nullptr) {
    body->add_output(acc);
    return body;
  }
  Value* b = body->add_input("bias", bias->type);
  Node* add = body->add_node("Add", {acc, b}, 1, nullptr, {}, 14);
  add->output(0)->type = out;
  body->add_output(add->output(0));
  return body;
}

// Replaces `n` by an internal node of the same outputs.
Node* replace(Graph& g, Node& n, const std::string& type, std::vector<Value*> inputs, const Value* bias) {
  Node* r = g.add_node(type, std::move(inputs), 1, &n, "atc", 0);
  r->name = n.name;
  r->sources = n.sources;
  r->output(0)->type = n.output(0)->type;
  auto body = epilogue(n.output(0)->type, bias);
  body->set_parent(&g);
  r->attrs.set("epilogue", std::move(body));
  replace_value(n.output(0), r->output(0));
  return r;
}

void set_geometry(Node& r, const ops::WindowGeometry& w) {
  Dims pads = w.pads_begin;
  pads.insert(pads.end(), w.pads_end.begin(), w.pads_end.end());
  r.attrs.set("pads", pads);
  r.attrs.set("strides", w.strides);
  r.attrs.set("dilations", w.dilations);
}

// Channel parameters [C] as [1, C, 1, ...], which broadcasts against N,C,spatial.
Value* channel_constant(Graph& g, const Value* v, std::size_t rank) {
  Tensor t = v->constant();
  Dims dims(rank, 1);
  dims[1] = t.count();
  t.shape = dims;
  return g.add_constant(v->name(), t);
}

std::int64_t macs_of(const Dims& out, const Dims& weight, std::int64_t in_channels_per_group) {
  std::int64_t n = element_count(out) * in_channels_per_group;
  for (std::size_t i = 2; i < weight.size(); ++i) n *= weight[i];
  return n;
}

// Larger windows than a core holds stay what they are in ONNX: the AI CPU runs them.
bool window_fits(const ops::WindowGeometry& w, bool depthwise, const soc::Chip* chip) {
  return chip == nullptr || kernels::window_fits(w.kernel, w.dilations, depthwise, *chip);
}

bool convolution(Graph& g, Node& n, const soc::Chip* chip) {
  const bool transposed = n.is("ConvTranspose");
  if (!transposed && !n.is("Conv")) return false;
  const Value* x = n.input(0);
  const Value* w = n.input(1);
  const Value* b = n.input(2);
  if (!is_cube_dtype(x->type.dtype) || !w->is_constant() || (b != nullptr && !b->is_constant())) return false;
  const Dims xd = x->type.dims(), wd = w->type.dims(), out = n.output(0)->type.dims();
  if (xd.size() < 3 || xd.size() > 5) return false;
  const Dims spatial = ops::spatial_dims(*x->type.shape), kernel = ops::spatial_dims(*w->type.shape);
  auto geometry =
      transposed ? ops::conv_transpose_geometry(n, spatial, kernel) : ops::conv_geometry(n, spatial, kernel);
  if (!geometry.ok()) return false;
  const std::int64_t group = n.attrs.get_int("group", 1);
  const bool depthwise = !transposed && group == xd[1] && wd[0] == group && group > 1;
  if (depthwise && !window_fits(*geometry, true, chip)) return false;
  std::vector<Value*> inputs = {n.input(0), n.input(1)};
  Value* bias = b != nullptr ? channel_constant(g, b, xd.size()) : nullptr;
  if (bias != nullptr) inputs.push_back(bias);
  Node* r = replace(g, n, depthwise ? "DepthwiseConv" : n.op_type, std::move(inputs), bias);
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
  replace(g, n, "MatMul", {n.input(0), n.input(1)}, nullptr);
  g.erase(&n);
  return true;
}

bool pool(Graph& g, Node& n, const soc::Chip* chip) {
  if (!n.is("MaxPool") && !n.is("AveragePool")) return false;
  if (n.output(1) != nullptr && (!n.output(1)->uses().empty() || g.is_output(n.output(1)))) return false;
  const Value* x = n.input(0);
  if (!is_cube_dtype(x->type.dtype) || x->type.shape->size() < 3 || x->type.shape->size() > 5) return false;
  auto geometry = ops::pool_geometry(n, ops::spatial_dims(*x->type.shape));
  if (!geometry.ok() || !window_fits(*geometry, false, chip)) return false;
  Node* r = replace(g, n, n.op_type, {n.input(0)}, nullptr);
  set_geometry(*r, *geometry);
  r->attrs.set("kernel_shape", geometry->kernel);
  r->attrs.set("count_include_pad", n.attrs.get_int("count_include_pad", 0));
  g.erase(&n);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  const soc::Chip* chip = context.options.chip;
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!n->domain.empty() || !has_static_shapes(*n)) continue;
    if (n->output(0) == nullptr || element_count(n->output(0)->type.dims()) == 0) continue;
    if (convolution(graph, *n, chip) || matmul(graph, *n) || pool(graph, *n, chip)) ++changes;
  }
  return changes;
}

}  // namespace

Pass cube_form_pass() {
  return {"cube-form", "", "convolutions, matrix products and pools take the form that carries an epilogue",
          run};
}

}  // namespace atc::passes
