#include "passes/attention_pattern.h"

#include <algorithm>

#include "passes/match.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;
bool is_cube_dtype(DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; }

// Same rows and columns, other leading axes.
bool keeps_matrices(const Node& n) {
  const Dims a = n.input(0)->type.dims(), b = n.output(0)->type.dims();
  return a.size() >= 2 && b.size() >= 2 && std::equal(a.end() - 2, a.end(), b.end() - 2);
}

class Matcher {
 public:
  explicit Matcher(Node& product) { p_.product = &product; }

  std::optional<AttentionPattern> run() {
    Node& product = *p_.product;
    Value* weights = product.input(0);
    p_.v = product.input(1);
    if (weights->type.shape->size() < 2 || p_.v->type.shape->size() < 2) return std::nullopt;
    p_.nodes.push_back(&product);
    while (is_private(weights) &&
           (is_float_cast(*weights->producer()) ||
            (weights->producer()->is("Reshape") && keeps_matrices(*weights->producer()))))
      weights = take(weights)->input(0);
    if (!is_private(weights)) return std::nullopt;
    Value* checked = take_nan_check(weights);
    if (checked != nullptr) weights = checked;
    if ((checked == nullptr && !is_private(weights)) || !weights->producer()->is("Softmax"))
      return std::nullopt;
    Node* softmax = take(weights);
    const Dims dims = softmax->input(0)->type.dims();
    if (softmax_axis(*softmax) != std::ssize(dims) - 1) return std::nullopt;
    p_.scores = dims;
    if (!scores(softmax->input(0))) return std::nullopt;
    operands();
    std::reverse(p_.nodes.begin(), p_.nodes.end());
    return p_;
  }

 private:
  static bool is_float_cast(const Node& n) {
    return n.is("Cast") && is_cube_dtype(n.input(0)->type.dtype) && is_cube_dtype(n.output(0)->type.dtype);
  }

  // w of Where(IsNaN(w), 0, w), which nothing else reads; null where `v` is no such thing.
  Value* take_nan_check(Value* v) {
    Node* where = v->producer();
    if (!where->is("Where") || scalar_of(where->input(1)) != 0 || !is_private(where->input(0)))
      return nullptr;
    Node* check = where->input(0)->producer();
    Value* w = where->input(2);
    if (!check->is("IsNaN") || check->input(0) != w || w->producer() == nullptr || w->uses().size() != 2 ||
        w->graph()->is_output(w))
      return nullptr;
    p_.nodes.insert(p_.nodes.end(), {where, check});
    p_.hidden_rows_are_zero = true;
    return w;
  }

  Node* take(Value* v) {
    p_.nodes.push_back(v->producer());
    return v->producer();
  }

  // From the softmax's input up to the product of queries and keys.
  bool scores(Value* v) {
    while (is_private(v)) {
      Node& n = *v->producer();
      if (n.is("MatMul")) return queries_times_keys(n);
      Value* next = nullptr;
      double factor = 1;
      const bool added = !p_.addends.empty(), selected = !p_.conditions.empty();
      // What is outside a mask or a soft cap acts on it too: the kernel has no such form.
      const bool may_mask = p_.scale == 1 && p_.softcap == 0;
      if (Value* x = unscaled(n, factor)) {
        p_.scale *= factor;
        next = x;
      } else if (n.is("Tanh") && p_.softcap == 0 && p_.scale > 0) {
        p_.softcap = p_.scale;
        next = n.input(0);
      } else if ((n.is("Add") || n.is("Sub")) && may_mask && !(selected && p_.addends_behind)) {
        return add(v, n);
      } else if (n.is("Where") && may_mask && !(added && selected && !p_.addends_behind)) {
        next = where(n);
      } else if (is_float_cast(n)) {
        next = n.input(0);
      } else if (n.is("Reshape") && keeps_matrices(n)) {
        next = n.input(0);
        p_.scores = next->type.dims();
      }
      if (next == nullptr) return false;
      take(v);
      v = next;
    }
    return false;
  }

  // Either operand may be the scores: the one that leads to the product.
  bool add(Value* v, Node& n) {
    for (std::size_t i = 0; i < (n.is("Sub") ? 1U : 2U); ++i) {
      Value *x = n.input(i), *addend = n.input(1 - i);
      if (x->type.dims() != v->type.dims() || !is_cube_dtype(addend->type.dtype)) continue;
      const AttentionPattern before = p_;
      take(v);
      p_.addends.push_back({addend, n.is("Sub"), v->type.dims()});
      if (scores(x)) return true;
      p_ = before;
    }
    return false;
  }

  Value* where(const Node& n) {
    for (std::size_t i = 1; i < 3; ++i) {
      const auto fill = scalar_of(n.input(i));
      Value* x = n.input(3 - i);
      if (!fill || x->type.dims() != n.output(0)->type.dims()) continue;
      if (!p_.conditions.empty() && *fill != p_.fill) continue;
      p_.addends_behind = !p_.addends.empty();
      p_.conditions.push_back({n.input(0), i == 2, n.output(0)->type.dims()});
      p_.fill = *fill;
      return x;
    }
    return nullptr;
  }

  bool queries_times_keys(Node& n) {
    if (n.input(0)->type.shape->size() < 2 || n.input(1)->type.shape->size() < 2) return false;
    if (!is_cube_dtype(n.input(0)->type.dtype)) return false;
    p_.nodes.push_back(&n);
    p_.q = n.input(0);
    p_.k = n.input(1);
    p_.k_is_transposed = true;
    return true;
  }

  // Scales on either side, and the transposition of the keys.
  void operands() {
    for (bool again = true; again;) {
      again = false;
      if (is_private(p_.q))
        if (Value* x = unscaled(*p_.q->producer(), p_.scale)) {
          take(p_.q);
          p_.q = x;
          again = true;
        }
      if (!is_private(p_.k)) continue;
      Node& n = *p_.k->producer();
      if (Value* x = unscaled(n, p_.scale)) {
        take(p_.k);
        p_.k = x;
        again = true;
      } else if (swaps_last_axes(n)) {
        take(p_.k);
        p_.k = n.input(0);
        p_.k_is_transposed = !p_.k_is_transposed;
        again = true;
      }
    }
  }

  AttentionPattern p_;
};

}  // namespace

Value* unscaled(const Node& n, double& scale) {
  if (n.is("Mul"))
    for (std::size_t i = 0; i < 2; ++i)
      if (const auto c = scalar_of(n.input(i));
          c && n.input(1 - i)->type.dims() == n.output(0)->type.dims()) {
        scale *= *c;
        return n.input(1 - i);
      }
  if (n.is("Div"))
    if (const auto c = scalar_of(n.input(1));
        c && *c != 0 && n.input(0)->type.dims() == n.output(0)->type.dims()) {
      scale /= *c;
      return n.input(0);
    }
  return nullptr;
}

std::optional<AttentionPattern> match_attention(Node& product) {
  if (!product.is("MatMul")) return std::nullopt;
  return Matcher(product).run();
}

}  // namespace atc::passes
