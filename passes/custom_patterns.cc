#include "passes/custom_patterns.h"

#include "ops/op.h"
#include "ops/reference_util.h"
#include "passes/rewrite.h"
#include "passes/strided_view.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

bool is_private(const Value* v) {
  return v->producer() != nullptr && v->uses().size() == 1 && !v->graph()->is_output(v);
}

/// The node of that type that makes a value which only its reader sees.
Node* private_node(const Value* v, std::string_view type) {
  return is_private(v) && v->producer()->is(type) && has_static_shapes(*v->producer()) ? v->producer()
                                                                                       : nullptr;
}

bool is_last_axis(std::int64_t axis, const Value* v) {
  const auto rank = static_cast<std::int64_t>(v->type.shape->size());
  return ops::normalize_axis(axis, rank) == rank - 1;
}

/// The only element of a constant.
std::optional<double> scalar(const Value* v) {
  if (v == nullptr || !v->is_constant() || v->constant().count() != 1) return std::nullopt;
  return to_doubles(v->constant())[0];
}

/// The part of `whole` from `start` of the last axis on, as long as its own.
bool is_part(Value* part, Value* whole, std::int64_t start) {
  const StridedView p = trace_view(part), w = trace_view(whole);
  const Dims dims = whole->type.dims();
  if (p.base != w.base || p.dims.size() != w.dims.size() || p.strides != w.strides) return false;
  return std::equal(p.dims.begin(), p.dims.end() - 1, w.dims.begin()) &&
         p.offset == w.offset + start * w.strides.back();
}

/// Concat(-x[h:], x[:h]) of this x; its nodes.
std::optional<std::vector<Node*>> rotated_half(const Value* v, Value* x) {
  Node* concat = private_node(v, "Concat");
  if (concat == nullptr || concat->inputs().size() != 2 ||
      !is_last_axis(concat->attrs.get_int("axis", -1), v))
    return std::nullopt;
  Node* neg = private_node(concat->input(0), "Neg");
  if (neg == nullptr || x->type.shape->empty()) return std::nullopt;
  const std::int64_t width = x->type.dims().back(), h = width / 2;
  Value *high = neg->input(0), *low = concat->input(1);
  if (width % 2 != 0 || high->type.dims().back() != h || low->type.dims().back() != h) return std::nullopt;
  if (!is_part(high, x, h) || !is_part(low, x, 0)) return std::nullopt;
  return std::vector<Node*>{concat, neg};
}

/// True when the table broadcasts to x and its rows are whole.
bool is_table(const Value* table, const Value* x) {
  const Dims t = table->type.dims(), d = x->type.dims();
  if (t.empty() || t.size() > d.size() || t.back() != d.back()) return false;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (const std::int64_t of_x = d[d.size() - t.size() + i]; t[i] != of_x && t[i] != 1) return false;
  return true;
}

/// g * Sigmoid(g), or Swish(g).
struct Gate {
  Value* g = nullptr;
  std::vector<Node*> nodes;
};
std::optional<Gate> gate_of(const Value* v) {
  if (Node* swish = private_node(v, "Swish");
      swish != nullptr && swish->attrs.get_float("alpha", 1.0F) == 1.0F)
    return Gate{swish->input(0), {swish}};
  Node* mul = private_node(v, "Mul");
  if (mul == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i)
    if (Node* s = private_node(mul->input(1 - i), "Sigmoid"); s != nullptr && s->input(0) == mul->input(i))
      return Gate{mul->input(i), {mul, s}};
  return std::nullopt;
}

/// The square of x in a value that only its reader sees.
Node* square_of(const Value* v, const Value* x) {
  if (Node* mul = private_node(v, "Mul"); mul != nullptr && mul->input(0) == x && mul->input(1) == x)
    return mul;
  Node* pow = private_node(v, "Pow");
  return pow != nullptr && pow->input(0) == x && scalar(pow->input(1)) == 2.0 ? pow : nullptr;
}

bool reduces_last_axis(const Node& mean) {
  Dims axes = mean.attrs.get_ints("axes");
  if (mean.input(1) != nullptr) {
    if (!mean.input(1)->is_constant()) return false;
    axes = to_int64s(mean.input(1)->constant());
  }
  return axes.size() == 1 && is_last_axis(axes[0], mean.input(0)) && mean.attrs.get_int("keepdims", 1) == 1;
}

/// sqrt(mean(x * x) + epsilon) as a value; fills nodes and epsilon.
bool match_root(const Value* v, const Value* x, RmsNormPattern& out) {
  Node* sqrt = private_node(v, "Sqrt");
  Node* add = sqrt == nullptr ? nullptr : private_node(sqrt->input(0), "Add");
  if (add == nullptr) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto epsilon = scalar(add->input(i));
    Node* mean = private_node(add->input(1 - i), "ReduceMean");
    if (!epsilon || mean == nullptr || !reduces_last_axis(*mean)) continue;
    Node* square = square_of(mean->input(0), x);
    if (square == nullptr) continue;
    out.epsilon = *epsilon;
    out.nodes.insert(out.nodes.end(), {sqrt, add, mean, square});
    return true;
  }
  return false;
}

/// x / root, or x * (1 / root), in a value that only its reader sees.
bool match_normalized(const Value* v, RmsNormPattern& out) {
  const std::vector<Node*> before = out.nodes;
  const auto retry = [&] { out.nodes = before; };
  if (Node* div = private_node(v, "Div"); div != nullptr) {
    out.nodes.push_back(div);
    out.x = div->input(0);
    if (match_root(div->input(1), out.x, out)) return true;
    retry();
  }
  Node* mul = private_node(v, "Mul");
  if (mul == nullptr) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    Node* inverse = private_node(mul->input(i), "Reciprocal");
    std::size_t root = 0;
    if (inverse == nullptr) {
      inverse = private_node(mul->input(i), "Div");
      root = 1;
      if (inverse == nullptr || scalar(inverse->input(0)) != 1.0) continue;
    }
    out.nodes.insert(out.nodes.end(), {mul, inverse});
    out.x = mul->input(1 - i);
    if (match_root(inverse->input(root), out.x, out)) return true;
    retry();
  }
  return false;
}

}  // namespace

std::optional<RopePattern> match_rope(Node& add) {
  if (!add.is("Add") || !has_static_shapes(add)) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    Node *straight = private_node(add.input(i), "Mul"), *turned = private_node(add.input(1 - i), "Mul");
    if (straight == nullptr || turned == nullptr) continue;
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t b = 0; b < 2; ++b) {
        RopePattern out{
            straight->input(a), straight->input(1 - a), turned->input(1 - b), {&add, straight, turned}};
        if (out.x->type.dims() != add.output(0)->type.dims()) continue;
        const auto rotation = rotated_half(turned->input(b), out.x);
        if (!rotation || !is_table(out.cos, out.x) || !is_table(out.sin, out.x)) continue;
        if (out.cos->type.dims() != out.sin->type.dims()) continue;
        out.nodes.insert(out.nodes.end(), rotation->begin(), rotation->end());
        return out;
      }
  }
  return std::nullopt;
}

std::optional<SwigluPattern> match_swiglu(Node& mul) {
  if (!mul.is("Mul") || !has_static_shapes(mul)) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto gate = gate_of(mul.input(i));
    if (!gate) continue;
    SwigluPattern out{gate->g, mul.input(1 - i), nullptr, {&mul}};
    const Dims dims = out.gate->type.dims();
    if (dims.empty() || out.up->type.dims() != dims || mul.output(0)->type.dims() != dims) continue;
    out.nodes.insert(out.nodes.end(), gate->nodes.begin(), gate->nodes.end());
    const StridedView g = trace_view(out.gate);
    if (g.base != out.gate && g.base->type.is_static() && g.base->type.shape->size() == dims.size() &&
        g.base->type.dims().back() == 2 * dims.back() && is_part(out.gate, g.base, 0) &&
        is_part(out.up, g.base, dims.back()))
      out.joined = g.base;
    return out;
  }
  return std::nullopt;
}

std::optional<RmsNormPattern> match_rms_norm(Node& mul) {
  if (!mul.is("Mul") || !has_static_shapes(mul)) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    RmsNormPattern out;
    out.gamma = mul.input(1 - i);
    out.nodes = {&mul};
    const Dims dims = mul.output(0)->type.dims();
    if (dims.empty() || out.gamma->type.dims() != Dims{dims.back()}) continue;
    if (match_normalized(mul.input(i), out) && out.x->type.dims() == dims) return out;
  }
  return std::nullopt;
}

}  // namespace atc::passes
