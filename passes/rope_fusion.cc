#include "passes/rope_fusion.h"

#include <cstring>
#include <map>
#include <tuple>

#include "ops/fused_views.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "passes/match.h"
#include "passes/rewrite.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using Operand = ops::FusedViews::Operand;

constexpr std::string_view kAtcName = "RotaryPositionEmbeddingFusionPass";

bool is_last_axis(const Node& n, std::size_t rank) {
  return ops::normalize_axis(n.attrs.get_int("axis", n.is("Split") ? 0 : -1),
                             static_cast<std::int64_t>(rank)) == static_cast<std::int64_t>(rank) - 1;
}

// The two parts of a head, each a view [..., h], and how they lie beside each other.
struct Pair {
  StridedView low, high;
  bool interleaved = false;
};

// `low` and `high` are the halves, or the even and odd elements, of one value.
std::optional<Pair> pair_of(Value* low, Value* high) {
  Pair p{trace_view(low), trace_view(high), false};
  if (p.low.base != p.high.base || p.low.dims != p.high.dims || p.low.strides != p.high.strides)
    return std::nullopt;
  const std::int64_t apart = p.high.offset - p.low.offset, step = p.low.strides.back(), h = p.low.dims.back();
  if (apart == h * step) return p;
  if (2 * apart != step) return std::nullopt;
  p.interleaved = true;
  return p;
}

// [..., h] joined to [..., 2h]: Concat of halves, or Reshape of a Concat of unsqueezed elements. Gives the
// two parts.
struct Joined {
  Value *low = nullptr, *high = nullptr;
  bool interleaved = false;
  std::vector<Node*> nodes;
};

std::optional<Joined> joined(Value* v) {
  Node* n = v->producer();
  if (n == nullptr) return std::nullopt;
  Joined j;
  j.nodes.push_back(n);
  const Dims dims = v->type.dims();
  if (n->is("Reshape")) {
    if (!is_private(n->input(0)) || !n->input(0)->producer()->is("Concat")) return std::nullopt;
    Dims stacked = dims;
    if (stacked.empty()) return std::nullopt;
    stacked.back() /= 2;
    stacked.push_back(2);
    if (n->input(0)->type.dims() != stacked) return std::nullopt;
    j.interleaved = true;
    n = n->input(0)->producer();
    j.nodes.push_back(n);
  }
  if (!n->is("Concat") || n->inputs().size() != 2 || !is_last_axis(*n, n->output(0)->type.shape->size()))
    return std::nullopt;
  Value* parts[] = {n->input(0), n->input(1)};
  if (parts[0]->type.dims() != parts[1]->type.dims()) return std::nullopt;
  if (j.interleaved)
    for (Value*& part : parts) {
      if (!is_private(part) || !(part->producer()->is("Unsqueeze") || part->producer()->is("Reshape")) ||
          part->type.dims().back() != 1)
        return std::nullopt;
      j.nodes.push_back(part->producer());
      part = part->producer()->input(0);
    }
  j.low = parts[0];
  j.high = parts[1];
  return j;
}

// x of v = -x, as Neg or as a product with -1.
Value* negated(const Value* v) {
  const Node* n = v->producer();
  if (n->is("Neg")) return n->input(0);
  const auto product = with_scalar(*n, "Mul");
  return product && product->c == -1 ? product->x : nullptr;
}

// y = x * cos + rotated(x) * sin.
struct Match {
  StridedView x;  // low part, [..., h]
  std::int64_t apart = 0;
  bool interleaved = false;
  Value *cos = nullptr, *sin = nullptr;
  bool half_tables = false;  // cos and sin are [..., h], the same for both parts
  std::vector<Node*> nodes;
};

std::optional<Match> whole_form(Node& add) {
  if (!add.is("Add")) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!is_private(add.input(i)) || !is_private(add.input(1 - i))) return std::nullopt;
    Node *straight = add.input(i)->producer(), *turned = add.input(1 - i)->producer();
    if (!straight->is("Mul") || !turned->is("Mul")) return std::nullopt;
    for (std::size_t k = 0; k < 2; ++k) {
      Value* r = turned->input(k);
      auto j = is_private(r) ? joined(r) : std::nullopt;
      if (!j || !is_private(j->low) || negated(j->low) == nullptr) continue;
      Node* neg = j->low->producer();
      const auto pair = pair_of(j->high, negated(j->low));
      if (!pair || pair->interleaved != j->interleaved) continue;
      for (std::size_t m = 0; m < 2; ++m) {
        Value* x = straight->input(m);
        if (x->type.dims() != add.output(0)->type.dims()) continue;
        StridedView v = trace_view(x);
        Match out{pair->low,
                  pair->high.offset - pair->low.offset,
                  pair->interleaved,
                  straight->input(1 - m),
                  turned->input(1 - k),
                  false,
                  j->nodes};
        // x itself: the low part, twice as long.
        const std::int64_t unit = pair->interleaved ? pair->low.strides.back() / 2 : pair->low.strides.back();
        if (v.base != pair->low.base || v.offset != pair->low.offset ||
            v.dims.back() != 2 * pair->low.dims.back() || v.strides.back() != unit)
          continue;
        v.dims.back() = pair->low.dims.back();
        v.strides.back() = pair->low.strides.back();
        if (v.dims != pair->low.dims || v.strides != pair->low.strides) continue;
        out.nodes.insert(out.nodes.begin(), {&add, straight, turned});
        out.nodes.push_back(neg);
        return out;
      }
    }
  }
  return std::nullopt;
}

// a * c as (a, c) in either order.
struct Term {
  Node* node;
  Value *a, *c;
};
std::vector<Term> terms(Value* v) {
  if (!is_private(v) || !v->producer()->is("Mul")) return {};
  Node* n = v->producer();
  return {{n, n->input(0), n->input(1)}, {n, n->input(1), n->input(0)}};
}

std::optional<Match> half_form(Node& top) {
  const auto j = joined(top.output(0));
  if (!j || j->nodes[0] != &top || !is_private(j->low) || !is_private(j->high)) return std::nullopt;
  Node *sub = j->low->producer(), *add = j->high->producer();
  if (!sub->is("Sub") || !add->is("Add")) return std::nullopt;
  for (const Term& ac : terms(sub->input(0)))
    for (const Term& bs : terms(sub->input(1)))
      for (std::size_t i = 0; i < 2; ++i)
        for (const Term& bc : terms(add->input(i)))
          for (const Term& as : terms(add->input(1 - i))) {
            if (ac.c != bc.c || bs.c != as.c || ac.a != as.a || bs.a != bc.a) continue;
            if (ac.a->type.dims() != j->low->type.dims()) continue;
            const auto pair = pair_of(ac.a, bs.a);
            if (!pair || pair->interleaved != j->interleaved) continue;
            Match m{pair->low, pair->high.offset - pair->low.offset, pair->interleaved, ac.c, bs.c, true,
                    j->nodes};
            m.nodes.insert(m.nodes.end(), {sub, add, ac.node, bs.node, bc.node, as.node});
            return m;
          }
  return std::nullopt;
}

// A table broadcast over [..., 2, h]; nullopt where its rows are not whole heads.
std::optional<StridedView> table_view(Value* table, const Match& m, const Dims& space) {
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
    auto m = whole_form(n);
    if (!m) m = half_form(n);
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
    const std::int64_t h = m->x.dims.back();
    Dims space = y->type.dims();
    space.pop_back();
    space.insert(space.end(), {2, h});
    if (element_count(space) == 0) return false;
    auto cos = table_view(m->cos, *m, space), sin = table_view(m->sin, *m, space);
    if (!cos || !sin) return missed("the table of cosines or sines is not broadcast over whole heads");

    Operand x{m->x.offset, m->x.strides}, turned = x;
    const std::int64_t step = x.strides.back();
    x.strides.back() = m->apart;
    x.strides.push_back(step);
    turned.strides.back() = -m->apart;
    turned.strides.push_back(step);
    turned.offset += m->apart;
    const bool is_signed = fold_tables(*m, *cos, *sin);
    std::vector<Value*> inputs = {m->x.base, m->x.base, cos->base, sin->base};
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
  bool fold_tables(const Match& m, StridedView& cos, StridedView& sin) {
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
