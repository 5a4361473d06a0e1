#include "passes/matmul_merge.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "ops/fused_attention.h"
#include "ops/fused_views.h"
#include "passes/joined_constants.h"
#include "passes/rewrite.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using kernels::AttentionSpec;
using kernels::HeadAddress;

constexpr std::string_view kAtcName = "ZAttentionLnQKVONNXFusionPass";

// The constant row that an epilogue adds; `plain` where it does nothing.
struct Epilogue {
  bool known = false;
  bool plain = false;
  std::size_t bias = 0;  // input of the product
};

Epilogue epilogue_of(const Node& n) {
  const auto body = n.attrs.get_graph("epilogue");
  if (body == nullptr || body->outputs().size() != 1) return {};
  if (body->node_count() == 0)
    return {n.inputs().size() == 2 && body->outputs()[0] == body->inputs()[0], true, 0};
  const Node& add = *body->nodes().front();
  if (body->node_count() != 1 || !add.is("Add") || n.inputs().size() != 3 || body->inputs().size() != 2)
    return {};
  if (add.output(0) != body->outputs()[0]) return {};
  const Value *acc = body->inputs()[0], *bias = body->inputs()[1];
  const bool reads_both =
      (add.input(0) == acc && add.input(1) == bias) || (add.input(1) == acc && add.input(0) == bias);
  const Value* row = n.input(2);
  const std::int64_t columns = n.output(0)->type.dims().back();
  if (!reads_both || !row->is_constant() || element_count(row->type.dims()) != columns ||
      row->type.dims().back() != columns)
    return {};
  return {true, false, 2};
}

// Elements offset + sum i_k * strides[k], i_k < lengths[k], of rows of `from` columns, moved to rows of `to`,
// from column `first` on; false when they walk across the end of a row.
bool widen(std::int64_t& offset, Dims& strides, const Dims& lengths, std::int64_t from, std::int64_t to,
           std::int64_t first) {
  std::int64_t low = offset % from, high = low;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    std::int64_t& s = strides[i];
    if (lengths[i] == 1)
      s = 0;
    else if (s % from == 0)
      s = s / from * to;
    else
      (s < 0 ? low : high) += s * (lengths[i] - 1);
  }
  if (low < 0 || high >= from) return false;
  offset = offset / from * to + offset % from + first;
  return true;
}

bool widen(HeadAddress& a, const Dims& lengths, std::int64_t from, std::int64_t to, std::int64_t first) {
  Dims strides = {a.batch_stride, a.head_stride, a.row_stride, 1};
  if (!widen(a.offset, strides, lengths, from, to, first) || (strides[3] != 1 && lengths[3] != 1))
    return false;
  a.batch_stride = strides[0];
  a.head_stride = strides[1];
  a.row_stride = strides[2];
  return true;
}

// What a reader of a product becomes when its rows get wider: attributes of its views.
using Rewrite = std::function<void(Node&)>;

std::optional<Rewrite> widened_attention(const Node& n, const Value* v, std::int64_t from, std::int64_t to,
                                         std::int64_t first) {
  auto spec = ops::attention_of(n);
  if (!spec || n.input(1) == v) return std::nullopt;
  bool fits = true;
  if (n.input(0) == v)
    fits = widen(spec->q, {spec->batch, spec->heads, spec->rows, spec->d}, from, to, first);
  for (std::size_t i = 0; i < spec->segments.size(); ++i) {
    kernels::KvSegment& s = spec->segments[i];
    Dims k = {spec->batch, spec->kv_heads, s.length, spec->d};
    if (spec->k_transposed) std::swap(k[2], k[3]);
    if (n.input(2 + 2 * i) == v) fits = fits && widen(s.k, k, from, to, first);
    if (n.input(3 + 2 * i) == v)
      fits = fits && widen(s.v, {spec->batch, spec->kv_heads, s.length, spec->dv}, from, to, first);
  }
  if (!fits) return std::nullopt;
  return [spec](Node& node) { ops::set_attention(node, *spec, node.output(0)->type.dims()); };
}

std::optional<Rewrite> widened_program(const Node& n, const Value* v, std::int64_t from, std::int64_t to,
                                       std::int64_t first) {
  auto views = ops::fused_views(n);
  if (!views) return std::nullopt;
  for (std::size_t i = 0; i < n.inputs().size(); ++i)
    if (n.input(i) == v &&
        !widen(views->operands[i].offset, views->operands[i].strides, views->space, from, to, first))
      return std::nullopt;
  return [views](Node& node) { ops::set_fused_views(node, *views); };
}

std::optional<Rewrite> widened_copy(const Node& n, std::int64_t from, std::int64_t to, std::int64_t first) {
  std::int64_t offset = n.attrs.get_int("offset", 0);
  Dims strides = n.attrs.get_ints("strides");
  if (!widen(offset, strides, n.output(0)->type.dims(), from, to, first)) return std::nullopt;
  return [=](Node& node) {
    node.attrs.set("offset", offset);
    node.attrs.set("strides", strides);
  };
}

std::optional<Rewrite> widened(const Node& reader, const Value* v, std::int64_t to, std::int64_t first) {
  const std::int64_t from = v->type.dims().back();
  if (reader.graph() != v->graph()) return std::nullopt;
  if (reader.is_internal("Attention")) return widened_attention(reader, v, from, to, first);
  if (reader.is_internal("Fused")) return widened_program(reader, v, from, to, first);
  if (reader.is_internal("StridedView")) return widened_copy(reader, from, to, first);
  return std::nullopt;
}

// Transpositions and slices that read `v` through reshapes, as views of it; false when something else reads
// it.
bool copies_of(Value* v, Value* base, std::vector<Node*>& copies) {
  for (const Value::Use& use : v->uses()) {
    Node& n = *use.node;
    if (v == base && widened(n, v, v->type.dims().back(), 0)) continue;
    if (n.graph() != v->graph() || use.index != 0 || n.output(0) == nullptr || !n.output(0)->type.is_static())
      return false;
    Value* y = n.output(0);
    if (n.is("Reshape") || n.is("Squeeze") || n.is("Unsqueeze") || n.is("Flatten")) {
      if (v->graph()->is_output(y) || !copies_of(y, base, copies)) return false;
    } else if ((n.is("Transpose") || n.is("Slice")) && trace_view(y).base == base) {
      copies.push_back(&n);
    } else {
      return false;
    }
  }
  return true;
}

// The nodes that `copies_of` names become views of the product.
void make_views(Graph& g, Value* base) {
  std::vector<Node*> copies;
  if (!copies_of(base, base, copies)) return;
  for (Node* n : copies) {
    Value* y = n->output(0);
    const StridedView view = trace_view(y);
    Node* copy = g.add_node("StridedView", {base}, 1, n, "atc", 0);
    copy->name = n->name;
    copy->sources = n->sources;
    copy->attrs.set("shape", y->type.dims());
    copy->attrs.set("offset", view.offset);
    copy->attrs.set("strides", view.strides);
    copy->output(0)->type = y->type;
    replace_value(y, copy->output(0));
    g.erase(n);
  }
  // Reshapes in between are read by nobody now.
  for (bool again = true; again;) {
    again = false;
    for (const Value::Use& use : base->uses()) {
      Node* n = use.node;
      if (n->domain.empty() && n->output(0)->uses().empty() && !g.is_output(n->output(0))) {
        g.erase(n);
        again = true;
        break;
      }
    }
  }
}

bool may_merge(const Node& n) {
  if (!n.is_internal("MatMul") || n.outputs().size() != 1 || n.attrs.get_int("trans_b", 0) != 0) return false;
  const Value *w = n.input(1), *y = n.output(0);
  if (!w->is_constant() || w->type.format != ir::Format::ND || w->type.shape->size() != 2) return false;
  if (y->graph()->is_output(y) || y->uses().empty() || !epilogue_of(n).known) return false;
  std::vector<Node*> copies;
  return copies_of(n.output(0), n.output(0), copies);
}

bool alike(const Node& a, const Node& b) {
  const Epilogue ea = epilogue_of(a), eb = epilogue_of(b);
  if (a.input(0) != b.input(0) || ea.plain != eb.plain) return false;
  if (a.attrs.get_int("trans_a", 0) != b.attrs.get_int("trans_a", 0)) return false;
  if (!ea.plain && a.input(ea.bias)->type.dtype != b.input(eb.bias)->type.dtype) return false;
  return a.input(1)->type.dtype == b.input(1)->type.dtype &&
         a.output(0)->type.dtype == b.output(0)->type.dtype;
}

void merge(Graph& g, const std::vector<Node*>& products) {
  Node& first = *products[0];
  std::vector<const Value*> weights, rows;
  std::int64_t columns = 0;
  const Epilogue epilogue = epilogue_of(first);
  for (const Node* n : products) {
    weights.push_back(n->input(1));
    if (!epilogue.plain) rows.push_back(n->input(epilogue.bias));
    columns += n->output(0)->type.dims().back();
  }
  std::vector<Value*> inputs = {first.input(0), side_by_side(g, weights)};
  if (!epilogue.plain) inputs.push_back(side_by_side(g, rows));
  Node* joined = g.add_node("MatMul", inputs, 1, &first, "atc", 0);
  joined->name = first.name;
  joined->attrs = first.attrs;
  for (const Node* n : products) add_sources(*joined, *n);
  Dims dims = first.output(0)->type.dims();
  dims.back() = columns;
  const ir::TensorType type = ir::tensor_type(first.output(0)->type.dtype, dims);
  joined->output(0)->type = type;

  auto body = std::make_shared<Graph>("epilogue", &g);
  Value* y = body->add_input("acc", type);
  if (!epilogue.plain) {
    Value* bias = body->add_input("bias", inputs[2]->type);
    Node* add = body->add_node("Add", {y, bias}, 1, nullptr, {}, 14);
    add->sources = first.attrs.get_graph("epilogue")->nodes().front()->sources;
    add->output(0)->type = type;
    y = add->output(0);
  }
  body->add_output(y);
  joined->attrs.set("epilogue", std::move(body));

  std::int64_t at = 0;
  for (Node* n : products) {
    Value* old = n->output(0);
    make_views(g, old);
    while (!old->uses().empty()) {
      Node& reader = *old->uses()[0].node;
      (*widened(reader, old, columns, at))(reader);
      for (std::size_t i = 0; i < reader.inputs().size(); ++i)
        if (reader.input(i) == old) reader.set_input(i, joined->output(0));
    }
    at += old->type.dims().back();
    g.erase(n);
  }
}

// Why one of several products of a value is not merged with the others.
std::string_view obstacle(const Node& n) {
  if (n.attrs.get_int("trans_b", 0) != 0) return "its constant matrix is transposed";
  if (n.outputs().size() != 1 || !epilogue_of(n).known)
    return "its epilogue does more than to add a constant row";
  if (n.output(0)->graph()->is_output(n.output(0))) return "its result is an output of the model";
  std::vector<Node*> copies;
  if (!copies_of(n.output(0), n.output(0), copies)) return "a reader of its result takes no view";
  return "dtypes or biases differ";
}

// Products of one value with constant matrices that stayed alone.
void tell_near_misses(const Graph& graph, PassContext& context) {
  std::map<const Value*, std::vector<const Node*>> products;
  for (const auto& n : graph.nodes())
    if (n->is_internal("MatMul") && n->input(1)->is_constant() && n->input(1)->type.shape->size() == 2)
      products[n->input(0)].push_back(n.get());
  for (const auto& n : graph.nodes()) {
    const auto found = n->inputs().empty() ? products.end() : products.find(n->input(0));
    if (found == products.end() || found->second.size() < 2 || found->second.front() != n.get()) continue;
    for (const Node* one : found->second) context.near_miss(kAtcName, *one, obstacle(*one));
  }
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  std::vector<std::vector<Node*>> groups;
  std::map<const Value*, std::vector<std::size_t>> by_input;
  for (Node* n : graph.node_list()) {
    if (!may_merge(*n)) continue;
    auto& candidates = by_input[n->input(0)];
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](std::size_t i) { return alike(*groups[i][0], *n); });
    if (same != candidates.end()) {
      groups[*same].push_back(n);
    } else {
      candidates.push_back(groups.size());
      groups.push_back({n});
    }
  }
  int changes = 0;
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    context.fusions.matched(FusionKind::Graph, kAtcName);
    merge(graph, group);
    context.fusions.effected(FusionKind::Graph, kAtcName);
    changes += static_cast<int>(group.size()) - 1;
  }
  tell_near_misses(graph, context);
  return changes;
}

}  // namespace

Pass matmul_merge_pass() {
  return {"matmul-merge", kAtcName,
          "products of one value with constant matrices become one, read through views", run};
}

}  // namespace atc::passes
