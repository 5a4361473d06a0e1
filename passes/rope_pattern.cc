#include "passes/rope_pattern.h"

#include "ops/op.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

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

std::optional<RopePattern> whole_form(Node& add) {
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
        RopePattern out{x,
                        j->high,
                        negated(j->low),
                        pair->low,
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

std::optional<RopePattern> half_form(Node& top) {
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
            RopePattern m{nullptr,           ac.a, bs.a, pair->low, pair->high.offset - pair->low.offset,
                          pair->interleaved, ac.c, bs.c, true,      j->nodes};
            m.nodes.insert(m.nodes.end(), {sub, add, ac.node, bs.node, bc.node, as.node});
            return m;
          }
  return std::nullopt;
}

}  // namespace

std::optional<RopePattern> match_rope(Node& last) {
  if (!has_static_shapes(last)) return std::nullopt;
  auto found = whole_form(last);
  return found ? found : half_form(last);
}

}  // namespace atc::passes
