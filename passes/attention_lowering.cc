#include "passes/attention_lowering.h"

#include <cmath>

#include "ops/fused_attention.h"
#include "passes/attention_mask.h"
#include "passes/attention_scores.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using kernels::AttentionSpec;
using kernels::HeadAddress;

bool is_cube_dtype(DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; }
bool is_read(const Value* v) { return v != nullptr && (!v->uses().empty() || v->graph()->is_output(v)); }

// [batch, heads, positions, elements] of a data input, as a value.
Value* as_heads(NodeWriter& w, Value* v, std::int64_t heads, const std::string& suffix) {
  if (v->type.shape->size() == 4) return v;
  const Dims d = v->type.dims();
  Value* rows = w.reshape(v, {d[0], d[1], heads, d[2] / heads}, suffix + "_rows");
  Node* t = w.insert("Transpose", {rows}, ir::tensor_type(v->type.dtype, {d[0], heads, d[1], d[2] / heads}),
                     suffix + "_heads");
  t->attrs.set("perm", Dims{0, 2, 1, 3});
  return t->output(0);
}

struct Source {
  Value* base;
  HeadAddress at;
};
Source source_of(Value* v) {
  StridedView view = trace_view(v);
  if (view.strides[3] != 1 && view.dims[3] != 1) view = whole_view(v);
  return {view.base, {view.offset, view.strides[0], view.strides[1], view.strides[2]}};
}

// Keys or values of all positions; what the model returns as present.
Value* present(NodeWriter& w, Node& n, Value* now, Value* past, std::size_t output,
               const std::string& suffix) {
  Value* all = now;
  if (past != nullptr && element_count(past->type.dims()) > 0) {
    Dims dims = now->type.dims();
    dims[2] += past->type.dims()[2];
    Node* c = w.insert("Concat", {past, now}, ir::tensor_type(now->type.dtype, dims), suffix + "_present");
    c->attrs.set("axis", std::int64_t{2});
    all = c->output(0);
  }
  Value* out = n.output(output);
  if (!is_read(out)) return all;
  if (!can_replace(out, all)) all = w.unary("Identity", all, suffix + "_output");
  replace_value(out, all);
  return all;
}

bool is_supported(const Node& n) {
  if (!n.is("Attention") || !has_static_shapes(n)) return false;
  const DType dtype = n.input(0)->type.dtype;
  if (!is_cube_dtype(dtype) || n.input(1)->type.dtype != dtype || n.input(2)->type.dtype != dtype)
    return false;
  for (std::size_t i = 0; i < 4; ++i)
    if (n.input(i) != nullptr && element_count(n.input(i)->type.dims()) == 0) return false;
  if (element_count(n.output(0)->type.dims()) == 0) return false;
  const Value* mask = n.input(3);
  return mask == nullptr || mask->type.dtype == DType::Bool || is_cube_dtype(mask->type.dtype);
}

bool lower(Graph& g, Node& n, const soc::Chip* chip) {
  if (!is_supported(n)) return false;
  const bool flat = n.input(0)->type.shape->size() == 3;
  const Dims qd = n.input(0)->type.dims(), kd = n.input(1)->type.dims(), vd = n.input(2)->type.dims();
  AttentionSpec s;
  s.batch = qd[0];
  s.heads = flat ? n.attrs.get_int("q_num_heads", 1) : qd[1];
  s.kv_heads = flat ? n.attrs.get_int("kv_num_heads", 1) : kd[1];
  s.rows = flat ? qd[1] : qd[2];
  s.d = flat ? qd[2] / s.heads : qd[3];
  s.dv = flat ? vd[2] / s.kv_heads : vd[3];
  s.scale = n.attrs.has("scale") ? static_cast<double>(n.attrs.get_float("scale", 1.0F))
                                 : 1 / std::sqrt(static_cast<double>(s.d));
  s.softcap = n.attrs.get_float("softcap", 0.0F);
  s.hidden_rows_are_zero = true;
  const std::int64_t past = n.input(4) != nullptr ? n.input(4)->type.dims()[2] : 0;
  s.causal_offset = past;
  Dims scores = {s.batch, s.heads, s.rows, past + (flat ? kd[1] : kd[2])};
  if (!mask_fits(n, scores)) return false;
  const bool shows_scores = is_read(n.output(3));
  if (shows_scores && scores_show_mask(n) && masked_positions(n, scores[3]) != scores[3]) return false;
  scores[3] = masked_positions(n, scores[3]);
  s.segments = {{scores[3], {}, {}}};
  if (chip != nullptr && !kernels::attention_fits(s, n.input(0)->type.dtype, *chip)) return false;

  NodeWriter w(g, n);
  const OnnxMask mask = write_mask(w, n, scores);
  s.causal = mask.causal;
  s.mask = mask_address(mask, scores);
  Value* const queries = as_heads(w, n.input(0), s.heads, "q");
  Value* const keys = present(w, n, as_heads(w, n.input(1), s.kv_heads, "k"), n.input(4), 1, "k");
  Value* const values = present(w, n, as_heads(w, n.input(2), s.kv_heads, "v"), n.input(5), 2, "v");
  if (shows_scores) replace_value(n.output(3), write_scores(w, n, s, queries, keys, mask));
  const Source q = source_of(queries), k = source_of(keys), v = source_of(values);
  s.q = q.at;
  s.segments = {{scores[3], k.at, v.at}};
  s.out = flat ? HeadAddress{0, s.rows * s.heads * s.dv, s.dv, s.heads * s.dv}
               : HeadAddress{0, s.heads * s.rows * s.dv, s.rows * s.dv, s.dv};
  Node* fused = g.add_node("Attention", {q.base, mask.value, k.base, v.base}, 1, &n, "atc", 0);
  fused->name = n.name;
  fused->sources = n.sources;
  ops::set_attention(*fused, s, n.output(0)->type.dims());
  fused->output(0)->type = n.output(0)->type;
  w.finish(fused->output(0));
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (lower(graph, *n, context.options.chip)) ++changes;
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

std::vector<std::string_view> lowered_attentions() { return {"Attention"}; }

Pass attention_lowering_pass() {
  return {"attention-lowering", "", "ONNX's Attention becomes the kernel's form", run};
}

}  // namespace atc::passes
