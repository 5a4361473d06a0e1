#include "passes/attention_fusion.h"

#include <algorithm>

#include "ops/fused_attention.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "passes/attention_masks.h"
#include "passes/attention_near_miss.h"
#include "passes/attention_pattern.h"
#include "passes/rewrite.h"
#include "passes/rules.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using kernels::AttentionMask;
using kernels::AttentionSpec;
using kernels::HeadAddress;
using Kind = AttentionMask::Kind;

constexpr std::string_view kAtcName = "ZAttentionScoreFusionPass";

// Leading axes as batch and heads: all but the last are the batch.
Dims as_heads(const Dims& dims) {
  const std::size_t lead = dims.size() - 2;
  const std::int64_t heads = lead == 0 ? 1 : dims[lead - 1];
  std::int64_t batch = 1;
  for (std::size_t i = 0; i + 1 < lead; ++i) batch *= dims[i];
  return {batch, heads, dims[lead], dims[lead + 1]};
}

bool has_unit_columns(const StridedView& v) { return v.strides[3] == 1 || v.dims[3] == 1; }

// `value` as [batch, heads, rows, cols] with neighbouring elements in its rows: through what makes it, or as
// it is.
StridedView heads_view(Value* value, const Dims& dims) {
  const auto traced = reshaped(trace_view(value), dims);
  if (traced && has_unit_columns(*traced)) return *traced;
  return *reshaped(whole_view(value), dims);
}

// Keys or values as [batch, key heads, positions, elements]. Key heads are fewer than `heads` where the model
// repeats them.
struct KvView {
  StridedView view;
  bool transposed = false;  // positions are neighbours
};

// [B, G, T, D] of heads that a Gather repeats: each of G the same number of times, one after the other.
std::optional<StridedView> gathered_heads(const Node& n, const Dims& dims) {
  if (!n.is("Gather") || dims.size() != 4 || n.attrs.get_int("axis", 0) != 1 || !n.input(1)->is_constant() ||
      n.input(1)->type.shape->size() != 1 || !n.input(0)->type.is_static())
    return std::nullopt;
  const std::vector<std::int64_t> heads = to_int64s(n.input(1)->constant());
  const std::int64_t own = n.input(0)->type.dims()[1];
  if (own < 1 || dims[1] % own != 0) return std::nullopt;
  const std::int64_t repeats = dims[1] / own;
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (heads[i] != static_cast<std::int64_t>(i) / repeats) return std::nullopt;
  const StridedView v = trace_view(n.input(0));
  return v.strides[3] == 1 || v.strides[2] == 1 ? v : whole_view(n.input(0));
}

// The repeated heads [B, G, R, T, D] before they are joined to [B, G * R, T, D].
std::optional<StridedView> grouped(Value* value) {
  const Node* n = value->producer();
  const Dims dims = value->type.dims();
  if (n != nullptr)
    if (const auto v = gathered_heads(*n, dims)) return v;
  if (n == nullptr || !n->is("Reshape") || dims.size() != 4 || !n->input(0)->type.is_static())
    return std::nullopt;
  const StridedView v = trace_view(n->input(0));
  if (v.dims.size() != 5 || v.dims[0] != dims[0] || v.dims[1] * v.dims[2] != dims[1] ||
      v.dims[3] != dims[2] || v.strides[2] != 0)
    return std::nullopt;
  return StridedView{v.base,
                     v.offset,
                     {v.dims[0], v.dims[1], v.dims[3], v.dims[4]},
                     {v.strides[0], v.strides[1], v.strides[3], v.strides[4]}};
}

// [B, G, R, S, T] scores with keys and values [B, G, 1, T, D]: R query heads share one of theirs.
bool shares_heads(const AttentionPattern& p) {
  const auto one_a_group = [](const Value* v) {
    return v->type.shape->size() == 5 && v->type.dims()[2] == 1;
  };
  return p.scores.size() == 5 && p.scores[2] > 1 && one_a_group(p.k) && one_a_group(p.v);
}

// [batch, heads, rows, positions] of the scores.
Dims score_heads(const AttentionPattern& p) {
  const Dims& s = p.scores;
  if (shares_heads(p)) return {s[0], s[1] * s[2], s[3], s[4]};
  Dims d = as_heads(s);
  // Heads of all batches on one axis: as many a batch as the queries' rows hold. Only apart are they views of
  // rows that other products share (matmul-merge).
  const Dims base = trace_view(p.q).base->type.dims();
  const std::int64_t width = p.q->type.dims().back();
  const std::int64_t heads = base.empty() || width < 1 ? 0 : base.back() / width;
  if (s.size() == 3 && heads > 1 && base.back() % width == 0 && d[1] % heads == 0)
    d = {d[1] / heads, heads, d[2], d[3]};
  return d;
}

// `kv_heads`: those of keys that queries share (`shares_heads`), 0 elsewhere. Only keys may lie transposed.
std::optional<KvView> kv_view(Value* value, std::int64_t batch, std::int64_t heads, std::int64_t kv_heads,
                              bool is_transposed, bool repeats, bool is_key) {
  StridedView v;
  if (const auto g = repeats ? grouped(value) : std::nullopt) {
    v = *g;
  } else {
    // Leading axes may be joined otherwise than the scores' are.
    Dims dims = as_heads(value->type.dims());
    if (kv_heads > 0)
      dims = {batch, kv_heads, dims[2], dims[3]};
    else if (element_count(dims) == batch * heads * dims[2] * dims[3])
      dims = {batch, heads, dims[2], dims[3]};
    const auto traced = reshaped(trace_view(value), dims);
    v = traced ? *traced : *reshaped(whole_view(value), dims);
  }
  const Dims dims = v.dims;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (is_transposed) {
      std::swap(v.dims[2], v.dims[3]);
      std::swap(v.strides[2], v.strides[3]);
    }
    const bool columns = v.strides[3] == 1 || v.dims[3] == 1, rows = v.strides[2] == 1 || v.dims[2] == 1;
    if (columns || (rows && is_key)) break;
    if (element_count(dims) != element_count(value->type.dims())) return std::nullopt;
    v = *reshaped(whole_view(value), dims);
  }
  // One head or one batch for all is numpy's broadcasting.
  if (v.dims[0] != batch) {
    if (v.dims[0] != 1) return std::nullopt;
    v.strides[0] = 0;
  }
  if (v.dims[1] < 1 || heads % v.dims[1] != 0 || (v.dims[1] != heads && v.dims[1] != 1 && !repeats))
    return std::nullopt;
  return KvView{v, v.strides[3] != 1 && v.dims[3] != 1};
}

HeadAddress address(const StridedView& v) { return {v.offset, v.strides[0], v.strides[1], v.strides[2]}; }

// Where an atc.Attention reads and writes.
struct Plan {
  AttentionSpec spec;
  Value* q = nullptr;
  std::vector<Value*> kv;
  Value* out = nullptr;   // what the node's output replaces
  Node* moved = nullptr;  // the Transpose that the output's view stands for
};

// Row-major; axes of length 1 have no stride to speak of.
bool is_dense(const StridedView& v) {
  const Dims strides = ops::row_major_strides(v.dims);
  for (std::size_t i = 0; i < strides.size(); ++i)
    if (v.dims[i] != 1 && v.strides[i] != strides[i]) return false;
  return v.offset == 0;
}

// Cached positions in front of new ones, when nothing else needs them joined.
void add_segments(Plan& plan, const KvView& k, const KvView& v) {
  auto joined = [](const KvView& x) -> const Node* {
    const Node* n = x.view.base->producer();
    if (n == nullptr || !n->is("Concat") || x.transposed || x.view.base->uses().size() != 1 ||
        x.view.base->graph()->is_output(x.view.base) || x.view.dims != x.view.base->type.dims() ||
        !is_dense(x.view))
      return nullptr;
    const auto axis = ops::normalize_axis(n->attrs.get_int("axis", 0), 4);
    return axis && *axis == 2 && n->inputs().size() <= 8 ? n : nullptr;
  };
  const Node *kn = joined(k), *vn = joined(v);
  bool split = kn != nullptr && vn != nullptr && kn->inputs().size() == vn->inputs().size();
  for (std::size_t i = 0; split && i < kn->inputs().size(); ++i) {
    split = kn->input(i)->type.is_static() && vn->input(i)->type.is_static() &&
            kn->input(i)->type.dims()[2] == vn->input(i)->type.dims()[2];
  }
  if (!split) {
    plan.spec.segments = {{k.view.dims[2], address(k.view), address(v.view)}};
    plan.kv = {k.view.base, v.view.base};
    return;
  }
  for (std::size_t i = 0; i < kn->inputs().size(); ++i) {
    const StridedView ki = heads_view(kn->input(i), kn->input(i)->type.dims());
    const StridedView vi = heads_view(vn->input(i), vn->input(i)->type.dims());
    if (ki.dims[2] == 0) continue;
    plan.spec.segments.push_back({ki.dims[2], address(ki), address(vi)});
    plan.kv.push_back(ki.base);
    plan.kv.push_back(vi.base);
  }
}

// The result in the order of the one Transpose that reads it, when strides express that.
void place_output(Plan& plan, Value* y, const Dims& dims) {
  plan.out = y;
  StridedView view = *reshaped(whole_view(y), dims);
  if (y->uses().size() == 1 && !y->graph()->is_output(y)) {
    Node& reader = *y->uses()[0].node;
    if (reader.is("Transpose") && reader.graph() == y->graph()) {
      Value* z = reader.output(0);
      const Dims perm = reader.attrs.get_ints("perm"), strides = ops::row_major_strides(z->type.dims());
      StridedView moved{z, 0, y->type.dims(), Dims(perm.size())};
      for (std::size_t i = 0; i < perm.size(); ++i)
        moved.strides[static_cast<std::size_t>(perm[i])] = strides[i];
      if (const auto v = perm.size() == strides.size() ? reshaped(moved, dims) : std::nullopt;
          v && has_unit_columns(*v)) {
        view = *v;
        plan.out = z;
        plan.moved = &reader;
      }
    }
  }
  plan.spec.out = address(view);
}

void set_masks(Plan& plan, const AttentionPattern& p) {
  AttentionSpec& s = plan.spec;
  if (!p.conditions.empty()) {
    s.mask.kind = p.conditions.size() > 1 || p.conditions[0].keeps ? Kind::Keep : Kind::Drop;
    s.mask.fill = p.fill;
    s.bias_behind_mask = p.addends_behind;
  } else if (!p.addends.empty()) {
    s.mask.kind = Kind::Add;
  }
  if (has_bias(p)) s.bias.kind = Kind::Add;
}

// Strides of `mask` broadcast over the scores, which are seen as `heads` (`score_heads`).
bool view_mask(AttentionMask& m, Value*& mask, const Dims& scores, const Dims& heads) {
  for (StridedView v : {trace_view(mask), whole_view(mask)}) {
    if (v.dims.size() > scores.size()) return false;
    v.dims.insert(v.dims.begin(), scores.size() - v.dims.size(), 1);
    v.strides.insert(v.strides.begin(), scores.size() - v.strides.size(), 0);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (v.dims[i] != scores[i] && v.dims[i] != 1) return false;
      if (v.dims[i] == 1) v.strides[i] = 0;
      v.dims[i] = scores[i];
    }
    const auto r = reshaped(v, heads);
    if (!r || r->strides[3] < 0 || r->strides[3] > 1) continue;
    m.offset = r->offset;
    m.batch_stride = r->strides[0];
    m.head_stride = r->strides[1];
    m.row_stride = r->strides[2];
    m.col_stride = r->strides[3];
    mask = v.base;
    return true;
  }
  return false;
}

std::optional<Plan> plan_of(const AttentionPattern& p) {
  Plan plan;
  AttentionSpec& s = plan.spec;
  const Dims scores = score_heads(p);
  const std::int64_t shared = shares_heads(p) ? p.scores[1] : 0;
  s.batch = scores[0];
  s.heads = scores[1];
  s.rows = scores[2];
  s.scale = p.scale;
  s.softcap = p.softcap;
  s.hidden_rows_are_zero = p.hidden_rows_are_zero;
  if (as_heads(p.q->type.dims())[2] != s.rows || p.q->type.dtype != p.k->type.dtype ||
      p.q->type.dtype != p.v->type.dtype)
    return std::nullopt;
  s.d = p.q->type.dims().back();
  s.dv = p.v->type.dims().back();
  const Dims q_dims = {s.batch, s.heads, s.rows, s.d}, out_dims = {s.batch, s.heads, s.rows, s.dv};
  if (element_count(p.q->type.dims()) != element_count(q_dims) ||
      element_count(p.product->output(0)->type.dims()) != element_count(out_dims) ||
      element_count(out_dims) == 0)
    return std::nullopt;
  const StridedView q = heads_view(p.q, q_dims);
  plan.q = q.base;
  s.q = address(q);
  // Both sides repeat their heads in the same way, or both are taken as they are.
  std::optional<KvView> k, v;
  for (bool repeats : {true, false}) {
    k = kv_view(p.k, s.batch, s.heads, shared, p.k_is_transposed, repeats, true);
    v = kv_view(p.v, s.batch, s.heads, shared, false, repeats, false);
    if (k && v && !v->transposed && k->view.dims[1] == v->view.dims[1]) break;
    k.reset();
  }
  if (!k || k->view.dims[2] != scores[3] || v->view.dims[2] != scores[3] || k->view.dims[3] != s.d)
    return std::nullopt;
  s.kv_heads = k->view.dims[1];
  s.k_transposed = k->transposed;
  if (k->transposed) std::swap(k->view.strides[2], k->view.strides[3]);
  add_segments(plan, *k, *v);
  place_output(plan, p.product->output(0), out_dims);
  set_masks(plan, p);
  return plan;
}

// view(x * c) becomes view(x) * c: queries and keys are scaled before their heads are moved, too.
bool sink_factor(Graph& g, Value* v) {
  Value* top = v;
  while (is_private(top) && (top->producer()->is("Transpose") || is_reshape(*top->producer())))
    top = top->producer()->input(0);
  if (top == v || !is_private(top)) return false;
  double factor = 1;
  Node& scaling = *top->producer();
  Value* x = unscaled(scaling, factor);
  if (x == nullptr || x->type != top->type) return false;
  Node& reader = *v->uses()[0].node;
  const std::size_t at = v->uses()[0].index;
  Node& view = *top->uses()[0].node;
  view.set_input(0, x);
  std::vector<Value*> inputs(scaling.inputs().begin(), scaling.inputs().end());
  for (Value*& input : inputs)
    if (input == x) input = v;
  Node* sunk = g.add_node(scaling.op_type, std::move(inputs), 1, &reader, {}, scaling.version);
  sunk->name = scaling.name;
  sunk->sources = scaling.sources;
  sunk->output(0)->type = v->type;
  reader.set_input(at, sunk->output(0));
  g.erase(&scaling);
  return true;
}

bool fuse(Graph& g, Node& product, PassContext& context) {
  int moved = 0;
  const auto p = find_attention(g, product, moved);
  const auto missed = [&](std::string_view reason) {
    context.near_miss(kAtcName, product, reason);
    return false;
  };
  if (!p) {
    const std::string reason = attention_near_miss(product);
    return reason.empty() ? false : missed(reason);
  }
  context.fusions.matched(FusionKind::Graph, kAtcName);
  for (const Node* n : p->nodes)
    if (!has_static_shapes(*n)) return missed("the shapes of " + n->label() + " are not known");
  auto plan = plan_of(*p);
  if (!plan) return missed("queries, keys and values have no common heads in strides that the kernel walks");
  AttentionSpec& s = plan->spec;
  const soc::Chip* chip = context.options.chip;
  if (chip != nullptr && !kernels::attention_fits(s, plan->q->type.dtype, *chip))
    return missed("a block of rows does not fit the chip's buffers");
  // Strides are known before masks are joined: the joined one is dense over what they span.
  const Dims heads = score_heads(*p);
  const auto has_strides = [&](const auto& m) {
    AttentionMask probe;
    Value* v = m.value;
    return view_mask(probe, v, m.scores, heads);
  };
  if (!std::ranges::all_of(p->addends, has_strides) || !std::ranges::all_of(p->conditions, has_strides))
    return missed("the mask has no strides over the scores");
  if (!can_join_masks(*p)) return missed("several masks act on scores of other dims each");
  JoinedMasks m = join_masks(g, *p);
  ATC_CHECK(m.mask == nullptr || view_mask(s.mask, m.mask, m.mask_scores, heads), "a mask has no strides");
  ATC_CHECK(m.bias == nullptr || view_mask(s.bias, m.bias, m.bias_scores, heads), "a mask has no strides");
  std::vector<Value*> inputs = {plan->q, m.mask};
  inputs.insert(inputs.end(), plan->kv.begin(), plan->kv.end());
  if (m.bias != nullptr) inputs.push_back(m.bias);
  Node* before = plan->moved != nullptr ? plan->moved : &product;
  Node* fused = g.add_node("Attention", std::move(inputs), 1, before, "atc", 0);
  fused->name = product.name;
  for (const Node* n : p->nodes) add_sources(*fused, *n);
  if (plan->moved != nullptr) add_sources(*fused, *plan->moved);
  ops::set_attention(*fused, s, plan->out->type.dims());
  fused->output(0)->type = plan->out->type;
  replace_value(plan->out, fused->output(0));
  if (plan->moved != nullptr) g.erase(plan->moved);
  for (auto n = p->nodes.rbegin(); n != p->nodes.rend(); ++n) g.erase(*n);
  context.fusions.effected(FusionKind::Graph, kAtcName);
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    if (n->is("MatMul") && has_static_shapes(*n) && fuse(graph, *n, context)) ++changes;
  return changes;
}

}  // namespace

std::optional<AttentionPattern> find_attention(Graph& graph, Node& product, int& moved) {
  auto p = match_attention(product);
  if (!p) return p;
  const bool queries = sink_factor(graph, p->q), keys = sink_factor(graph, p->k);
  if (!queries && !keys) return p;
  ++moved;
  return match_attention(product);
}

Pass attention_fusion_pass() {
  return {"attention-fusion", kAtcName,
          "softmax attention becomes one kernel that keeps its scores on the chip", run};
}

}  // namespace atc::passes
