#include "passes/rope_fusion.h"

#include <cstring>
#include <map>
#include <tuple>

#include "ops/fused_views.h"
#include "ops/reference_util.h"
#include "passes/rewrite.h"
#include "passes/rope_pattern.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using Operand = ops::FusedViews::Operand;

constexpr std::string_view kAtcName = "RotaryPositionEmbeddingFusionPass";

// A table broadcast over [..., 2, h]; nullopt where its rows are not whole heads.
std::optional<StridedView> table_view(Value* table, const RopePattern& m, const Dims& space) {
  StridedView v = trace_view(table);
  const std::size_t rank = space.size() - 1;  // of x
  if (v.dims.size() > rank || v.dims.empty()) return std::nullopt;
  v.dims.insert(v.dims.begin(), rank - v.dims.size(), 1);
  v.strides.insert(v.strides.begin(), rank - v.strides.size(), 0);
  const std::int64_t h = space.back(), width = m.half_tables ? h : 2 * h;
  for (std::size_t i = 0; i + 1 < rank; ++i) {
    if (v.dims[i] == 1)
      v.strides[i] = 0;
    else if (v.dims[i] != space[i])
      return std::nullopt;
  }
  if (v.dims.back() != width) return std::nullopt;
  const std::int64_t step = v.strides.back();
  v.strides.pop_back();
  if (m.half_tables)
    v.strides.insert(v.strides.end(), {0, step});
  else if (m.interleaved)
    v.strides.insert(v.strides.end(), {step, 2 * step});
  else
    v.strides.insert(v.strides.end(), {h * step, step});
  v.dims = space;
  return v;
}

class Fuser {
 public:
  explicit Fuser(Graph& graph) : graph_(graph) {}

  bool fuse(Node& n, PassContext& context) {
    const auto m = match_rope(n);
    if (!m) return false;
    Value* y = n.output(0);
    const DType dtype = y->type.dtype;
    if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16) return false;
    context.fusions.matched(FusionKind::Graph, kAtcName);
    const auto missed = [&](const std::string& reason) {
      context.near_miss(kAtcName, n, reason);
      return false;
    };
    for (const Node* k : m->nodes)
      if (!has_static_shapes(*k)) return missed("the shapes of " + k->label() + " are not known");
    const std::int64_t h = m->low_view.dims.back();
    Dims space = y->type.dims();
    space.pop_back();
    space.insert(space.end(), {2, h});
    if (element_count(space) == 0) return false;
    auto cos = table_view(m->cos, *m, space), sin = table_view(m->sin, *m, space);
    if (!cos || !sin) return missed("the table of cosines or sines is not broadcast over whole heads");

    Operand x{m->low_view.offset, m->low_view.strides}, turned = x;
    const std::int64_t step = x.strides.back();
    x.strides.back() = m->apart;
    x.strides.push_back(step);
    turned.strides.back() = -m->apart;
    turned.strides.push_back(step);
    turned.offset += m->apart;
    const bool is_signed = fold_tables(*m, *cos, *sin);
    std::vector<Value*> inputs = {m->low_view.base, m->low_view.base, cos->base, sin->base};
    ops::FusedViews views{space, {x, turned, {cos->offset, cos->strides}, {sin->offset, sin->strides}}};
    if (!is_signed) {
      inputs.push_back(
          graph_.add_constant(n.name + "/sign", from_doubles(dtype, {2, 1}, std::vector<double>{-1, 1})));
      views.operands.push_back({0, Dims(space.size(), 0)});
      views.operands.back().strides[space.size() - 2] = 1;
    }
    Operand out{0, ops::row_major_strides(y->type.dims())};
    out.strides.pop_back();
    out.strides.insert(out.strides.end(), {m->interleaved ? 1 : h, m->interleaved ? 2 : 1});
    views.operands.push_back(out);

    Node* fused = graph_.add_node("Fused", inputs, 1, &n, "atc", 0);
    fused->name = n.name;
    for (auto k = m->nodes.rbegin(); k != m->nodes.rend(); ++k) add_sources(*fused, **k);
    fused->attrs.set("label", std::string("RotaryPositionEmbedding"));
    ops::set_fused_views(*fused, views);
    fused->attrs.set("body", body(y->type, inputs));
    fused->output(0)->type = y->type;
    replace_value(y, fused->output(0));
    // What else reads the parts keeps them; dead ones go.
    graph_.erase(&n);
    context.fusions.effected(FusionKind::Graph, kAtcName);
    return true;
  }

 private:
  // x * cos + turned * (sin * sign): every operand as the views show it.
  std::shared_ptr<Graph> body(const ir::TensorType& type, const std::vector<Value*>& inputs) {
    auto g = std::make_shared<Graph>("body", &graph_);
    constexpr const char* kNames[] = {"x", "turned", "cos", "sin", "sign"};
    std::vector<Value*> in;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      in.push_back(g->add_input(kNames[i], {inputs[i]->type.dtype, type.shape}));
    auto op = [&](const char* name, Value* a, Value* b) {
      Node* n = g->add_node(name, {a, b}, 1, nullptr, {}, 14);
      n->output(0)->type = type;
      return n->output(0);
    };
    Value* turned = in.size() > 4 ? op("Mul", in[1], in[4]) : in[1];
    g->add_output(op("Add", op("Mul", in[0], in[2]), op("Mul", turned, in[3])));
    return g;
  }

  // Rows of constant tables by one index: cos and the signed sin become one table with rows twice as wide.
  bool fold_tables(const RopePattern& m, StridedView& cos, StridedView& sin) {
    Node *c = cos.base->producer(), *s = sin.base->producer();
    if (m.half_tables || c == nullptr || s == nullptr) return false;
    for (const Node* n : {c, s})
      if (!n->is("Gather") || !n->input(0)->is_constant() || n->attrs.get_int("axis", 0) != 0 ||
          n->input(0)->type.shape->size() != 2)
        return false;
    const Dims rows = c->input(0)->type.dims();
    const std::int64_t h = sin.dims.back(), width = 2 * h;
    const Dims walk = m.interleaved ? Dims{1, 2} : Dims{h, 1};
    auto whole_rows = [&](const StridedView& v) {
      for (std::size_t i = 0; i + 2 < v.strides.size(); ++i)
        if (v.strides[i] % width != 0) return false;
      return v.offset % width == 0 && std::equal(walk.begin(), walk.end(), v.strides.end() - 2);
    };
    if (rows != s->input(0)->type.dims() || rows[1] != width || c->input(1) != s->input(1) ||
        c->output(0)->type.dtype != s->output(0)->type.dtype || !whole_rows(cos) || !whole_rows(sin))
      return false;
    Node*& joined = tables_[{c, s, m.interleaved}];
    if (joined == nullptr) joined = join(*c, *s, m.interleaved);
    for (StridedView* v : {&cos, &sin}) {
      for (std::size_t i = 0; i + 2 < v->strides.size(); ++i) v->strides[i] *= 2;
      v->offset *= 2;
      v->base = joined->output(0);
    }
    sin.offset += width;
    return true;
  }

  Node* join(Node& c, Node& s, bool interleaved) {
    const Tensor &ct = c.input(0)->constant(), &st = s.input(0)->constant();
    const std::int64_t rows = ct.shape[0], width = ct.shape[1];
    const std::vector<double> cv = to_doubles(ct), sv = to_doubles(st);
    std::vector<double> all(static_cast<std::size_t>(2 * rows * width));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < width; ++i) {
        const std::size_t from = static_cast<std::size_t>(r * width + i),
                          to = static_cast<std::size_t>(2 * r * width + i);
        const bool low = interleaved ? i % 2 == 0 : i < width / 2;
        all[to] = cv[from];
        all[to + static_cast<std::size_t>(width)] = low ? -sv[from] : sv[from];
      }
    Value* table = graph_.add_constant(c.input(0)->name() + "+" + s.input(0)->name(),
                                       from_doubles(ct.dtype, {rows, 2 * width}, all));
    // Behind both, so that whatever makes the index is there.
    Node* later = &c;
    for (const auto& n : graph_.nodes())
      if (n.get() == &c || n.get() == &s) later = n.get();
    Node* g = graph_.add_node("Gather", {table, c.input(1)}, 1, later, {}, c.version);
    g->name = c.name;
    g->attrs.set("axis", std::int64_t{0});
    add_sources(*g, c);
    add_sources(*g, s);
    Dims dims = c.output(0)->type.dims();
    dims.back() *= 2;
    g->output(0)->type = ir::tensor_type(ct.dtype, dims);
    return g;
  }

  Graph& graph_;
  std::map<std::tuple<const Node*, const Node*, bool>, Node*> tables_;
};

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  Fuser fuser(graph);
  for (Node* n : graph.node_list())
    if ((n->is("Add") || n->is("Concat") || n->is("Reshape")) && has_static_shapes(*n) &&
        fuser.fuse(*n, context))
      ++changes;
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass rope_fusion_pass() {
  return {"rope-fusion", kAtcName, "rotary position embeddings become one vector program each", run};
}

}  // namespace atc::passes
