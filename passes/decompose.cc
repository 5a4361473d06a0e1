#include "passes/decompose.h"

#include <array>
#include <numeric>

#include "ops/op.h"
#include "passes/batch_norm.h"
#include "passes/decompose_einsum.h"
#include "passes/decompose_index.h"
#include "passes/decompose_norms.h"
#include "passes/decompose_pools.h"
#include "passes/decompose_reduce.h"
#include "passes/decompose_rotary.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// CastLike takes nothing but a type of its second input, which needs not be computed then.
bool resolve_cast_like(Graph& g, Node& n) {
  if (!n.is("CastLike")) return false;
  NodeWriter w(g, n);
  Node* cast = w.insert("Cast", {n.input(0)}, n.output(0)->type, "Cast");
  cast->version = n.version;
  cast->attrs = n.attrs;
  cast->attrs.set("to", static_cast<std::int64_t>(n.output(0)->type.dtype));
  w.finish(cast->output(0));
  return true;
}

bool expand_global_pool(Graph& g, Node& n) {
  const bool average = n.is("GlobalAveragePool");
  if (!average && !n.is("GlobalMaxPool")) return false;
  const Dims dims = n.input(0)->type.dims();
  Dims axes(dims.size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  if (axes.empty()) return false;
  NodeWriter w(g, n);
  Node* r = w.insert(average ? "ReduceMean" : "ReduceMax", {n.input(0)}, n.output(0)->type, n.op_type);
  r->attrs.set("axes", axes);
  r->attrs.set("keepdims", std::int64_t{1});
  w.finish(r->output(0));
  return true;
}

// BatchNorm in inference is one multiply and one add a channel; folding into a convolution is another pass's.
bool expand_batch_norm(Graph& g, Node& n) {
  const auto affine = batch_norm_affine(n);
  if (!affine) return expand_open_batch_norm(g, n);
  const Value* x = n.input(0);
  Dims dims(x->type.shape->size() > 1 ? x->type.shape->size() - 1 : 1, 1);
  dims[0] = std::ssize(affine->scale);
  const DType dtype = x->type.dtype;
  Value* f = g.add_constant(n.name + "/scale", from_doubles(dtype, dims, affine->scale));
  Value* o = g.add_constant(n.name + "/shift", from_doubles(dtype, dims, affine->shift));
  NodeWriter w(g, n);
  Node* mul = w.insert("Mul", {n.input(0), f}, n.output(0)->type, "scaled");
  w.finish(w.insert("Add", {mul->output(0), o}, n.output(0)->type, "shifted")->output(0));
  return true;
}

Value* transposed(NodeWriter& w, Value* x, const std::string& suffix) {
  const Dims d = x->type.dims();
  Node* t = w.insert("Transpose", {x}, ir::tensor_type(x->type.dtype, {d[1], d[0]}), suffix);
  t->attrs.set("perm", std::vector<std::int64_t>{1, 0});
  return t->output(0);
}

bool expand_gemm(Graph& g, Node& n) {
  if (!n.is("Gemm")) return false;
  const DType dtype = n.output(0)->type.dtype;
  if (!is_float(dtype) || dtype == DType::F64) return false;
  if (n.version < 7 && n.input(2) != nullptr && n.input(2)->type.dims() != n.output(0)->type.dims() &&
      n.input(2)->type.shape->size() > 1)
    return false;
  NodeWriter w(g, n);
  Value* a = n.input(0);
  Value* b = n.input(1);
  if (n.attrs.get_int("transA", 0) != 0) a = transposed(w, a, "transA");
  if (n.attrs.get_int("transB", 0) != 0) b = transposed(w, b, "transB");
  const ir::TensorType type = n.output(0)->type;
  Value* y = w.insert("MatMul", {a, b}, type, "product")->output(0);
  auto scaled = [&](Value* v, float factor, const std::string& suffix) {
    if (factor == 1.0F) return v;
    Value* c = w.scalar(static_cast<double>(factor), dtype, suffix);
    return w.insert("Mul", {v, c}, v->type, suffix + "_scaled")->output(0);
  };
  y = scaled(y, n.attrs.get_float("alpha", 1.0F), "alpha");
  const float beta = n.attrs.get_float("beta", 1.0F);
  if (n.input(2) != nullptr && beta != 0.0F)
    y = w.insert("Add", {y, scaled(n.input(2), beta, "beta")}, type, "bias")->output(0);
  w.finish(y);
  return true;
}

bool expand_vector_matmul(Graph& g, Node& n) {
  if (!n.is("MatMul")) return false;
  const Dims a = n.input(0)->type.dims(), b = n.input(1)->type.dims();
  if (a.size() > 1 && b.size() > 1) return false;
  Dims a2 = a, b2 = b;
  if (a.size() == 1) a2.insert(a2.begin(), 1);
  if (b.size() == 1) b2.push_back(1);
  NodeWriter w(g, n);
  Value* av = w.reshape(n.input(0), a2, "as_row");
  Value* bv = w.reshape(n.input(1), b2, "as_column");
  Dims out = n.output(0)->type.dims();
  if (a.size() == 1) out.insert(b.size() == 1 ? out.end() : out.end() - 1, 1);
  if (b.size() == 1) out.push_back(1);
  Node* m = w.insert("MatMul", {av, bv}, ir::tensor_type(n.output(0)->type.dtype, out), "matrix");
  w.finish(w.reshape(m->output(0), n.output(0)->type.dims(), "drop_unit_axes"));
  return true;
}

struct Rule {
  std::string_view op;  ///< empty: the rule knows its operators
  bool (*rewrite)(Graph&, Node&);
};
constexpr std::array kRules = {
    Rule{"CastLike", resolve_cast_like},
    Rule{"", keep_reduced_axes},
    Rule{"", split_reduced_axes},
    Rule{"GlobalAveragePool", expand_global_pool},
    Rule{"GlobalMaxPool", expand_global_pool},
    Rule{"GlobalLpPool", expand_global_lp_pool},
    Rule{"", expand_whole_pool},
    Rule{"LpPool", expand_lp_pool},
    Rule{"MaxPool", expand_indexed_max_pool},
    Rule{"", expand_integer_max_pool},
    Rule{"BatchNormalization", expand_batch_norm},
    Rule{"Gemm", expand_gemm},
    Rule{"MatMul", expand_vector_matmul},
    Rule{"Einsum", expand_einsum},
    Rule{"Hardmax", expand_hardmax},
    Rule{"EyeLike", expand_eye_like},
    Rule{"CenterCropPad", expand_center_crop_pad},
    Rule{"AffineGrid", expand_affine_grid},
    Rule{"InstanceNormalization", expand_instance_norm},
    Rule{"GroupNormalization", expand_group_norm},
    Rule{"MeanVarianceNormalization", expand_mean_variance_norm},
    Rule{"LRN", expand_lrn},
    Rule{"RotaryEmbedding", expand_rotary_embedding},
};

int sweep(Graph& graph) {
  int changes = 0;
  for (Node* n : graph.node_list()) {
    if (!n->domain.empty() || !has_static_shapes(*n)) continue;
    for (const Rule& rule : kRules)
      if ((rule.op.empty() || n->is(rule.op)) && rule.rewrite(graph, *n)) {
        ++changes;
        break;
      }
  }
  return changes;
}

// What one rule writes may be another's: the reductions of an Einsum. Each rule leads to simpler operators.
StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  while (const int more = sweep(graph)) changes += more;
  return changes;
}

}  // namespace

std::vector<std::string_view> decomposed_operators() {
  std::vector<std::string_view> out;
  for (const Rule& rule : kRules)
    if (!rule.op.empty()) out.push_back(rule.op);
  return out;
}

Pass decompose_pass() {
  return {"decompose", "", "operators that have simpler forms are written in them", run};
}

}  // namespace atc::passes
