#include "passes/attention_scores.h"

#include <limits>

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

std::int64_t mode_of(const Node& n) { return n.attrs.get_int("qk_matmul_output_mode", 0); }

// Query heads that share a key head are rows of one product.
Value* product(NodeWriter& w, const kernels::AttentionSpec& s, Value* q, Value* k) {
  const DType dtype = q->type.dtype;
  const std::int64_t positions = k->type.dims()[2], rows = s.heads / s.kv_heads * s.rows;
  Node* t =
      w.insert("Transpose", {k}, ir::tensor_type(dtype, {s.batch, s.kv_heads, s.d, positions}), "scores_k");
  t->attrs.set("perm", Dims{0, 1, 3, 2});
  Value* grouped = w.reshape(q, {s.batch, s.kv_heads, rows, s.d}, "scores_q");
  Node* m = w.insert("MatMul", {grouped, t->output(0)},
                     ir::tensor_type(dtype, {s.batch, s.kv_heads, rows, positions}), "scores_product");
  return w.reshape(m->output(0), {s.batch, s.heads, s.rows, positions}, "scores_heads");
}

Value* select(NodeWriter& w, Value* condition, Value* yes, Value* no, const ir::TensorType& type,
              const std::string& suffix) {
  return w.insert("Where", {condition, yes, no}, type, suffix)->output(0);
}

Value* masked(NodeWriter& w, const kernels::AttentionSpec& s, Value* x, const OnnxMask& mask) {
  Value* hidden = w.scalar(kHidden, x->type.dtype, "scores_hidden");
  if (mask.value != nullptr)
    x = mask.value->type.dtype == DType::Bool ? select(w, mask.value, x, hidden, x->type, "scores_masked")
                                              : w.binary("Add", x, mask.value, x, "scores_masked");
  if (mask.causal)
    x = select(w, causal_edge(w, x->type.dims(), s.causal_offset), x, hidden, x->type, "scores_causal");
  return x;
}

Value* weights(NodeWriter& w, Value* x) {
  Dims row = x->type.dims();
  row.back() = 1;
  Node* most = w.insert("ReduceMax", {x}, ir::tensor_type(x->type.dtype, row), "scores_most");
  most->attrs.set("axes", Dims{3});
  most->attrs.set("keepdims", std::int64_t{1});
  Node* blind = w.insert("Equal", {most->output(0), w.scalar(kHidden, x->type.dtype, "scores_lowest")},
                         ir::tensor_type(DType::Bool, row), "scores_blind");
  Node* softmax = w.insert("Softmax", {x}, x->type, "scores_softmax");
  softmax->attrs.set("axis", std::int64_t{3});
  Value* zero = w.scalar(0, x->type.dtype, "scores_zero");
  return select(w, blind->output(0), zero, softmax->output(0), x->type, "scores_weights");
}

}  // namespace

Value* write_scores(NodeWriter& w, const Node& n, const kernels::AttentionSpec& s, Value* q, Value* k,
                    const OnnxMask& mask) {
  Value* x = product(w, s, q, k);
  x = w.binary("Mul", x, w.scalar(s.scale, x->type.dtype, "scores_scale"), x, "scores_scaled");
  const std::int64_t mode = mode_of(n);
  if (mode >= 1 && s.softcap > 0) {
    Value* cap = w.scalar(s.softcap, x->type.dtype, "scores_cap");
    x = w.unary("Tanh", w.binary("Div", x, cap, x, "scores_over_cap"), "scores_tanh");
    x = w.binary("Mul", x, cap, x, "scores_capped");
  }
  if (mode >= 2) x = masked(w, s, x, mask);
  return mode >= 3 ? weights(w, x) : x;
}

bool scores_show_mask(const Node& n) { return mode_of(n) >= 2; }

}  // namespace atc::passes
